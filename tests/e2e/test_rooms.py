"""Two browsers meet in a room: signalling through the facade, media at the address that is found."""

from __future__ import annotations

import base64
from collections.abc import Callable

from tests.support.cluster import SYSTEM, LocalCluster
from tests.support.rooms.participant import participant
from tests.support.shows import FacadeClient, LiveShow

HOSTED = {"webrtc": {"hosted": {}}}


def join(facade: FacadeClient, show: LiveShow, name: str) -> str:
    access = facade.call("POST", f"{show.path}/webrtc/token", {"displayName": name})["webrtcAccess"]
    return str(access["accessToken"])


async def test_two_browsers_see_and_hear_each_other_until_the_room_is_closed(
    facade: FacadeClient, make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    show = make_show(**HOSTED)
    # Read here: who installs the chart anew gets another key
    encoded = cluster.get("secret", "onair-demo-api-key", SYSTEM)["data"]["apiKey"]
    others = facade.another_session(base64.b64decode(encoded).decode())
    facade.call("PUT", f"{show.path}/webrtc/start", {})
    url = str(facade.http.base_url).rstrip("/").replace("http", "ws", 1) + "/webrtc/v2"
    first, second = join(facade, show, "Anna"), join(others, show, "Ben")
    async with participant(url, first) as anna, participant(url, second) as ben:
        await anna.until("in the room", lambda report: report["identity"] == "e2e", 40)
        await ben.until("in the room beside", lambda report: report["identity"] == "e2e#2", 40)
        await anna.until("Ben is seen", lambda report: report["frames"]["e2e#2 camera"] > 5, 40)
        await ben.until("Anna is seen", lambda report: report["frames"]["e2e camera"] > 5, 40)
        await ben.until("Anna is heard", lambda report: report["loud"]["e2e microphone"])
        room = cluster.until("both are told", lambda: (r := _room(cluster, show)).get("count") == 2 and r)
        assert {each["displayName"] for each in room["participants"]} == {"Anna", "Ben"}
        facade.call("PUT", f"{show.path}/webrtc/stop", {})
        await anna.until("out", lambda report: report["state"] == "disconnected")
        await ben.until("out", lambda report: report["state"] == "disconnected")


def _room(cluster: LocalCluster, show: LiveShow) -> dict[str, object]:
    found: dict[str, object] = cluster.get("project", show.project).get("status", {}).get("room") or {}
    return found
