"""Two browsers and a camera meet in a room: signalling by the facade, media at the address that is found.

The network enforces policies meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from tests.support.cluster import LocalCluster
from tests.support.event_client import WebSocket, events_of
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.rooms.participant import participant
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.usefixtures("policies")

HOSTED: JsonObject = {"webrtc": {"hosted": {}}}
JOINS = "apistream:room:EVENT_TYPE_PARTICIPANT:EVENT_SUB_TYPE_JOIN"


def join(facade: FacadeClient, show: LiveShow, name: str) -> str:
    access = facade.call("POST", f"{show.path}/webrtc/token", {"displayName": name})["webrtcAccess"]
    return str(access["accessToken"])


def add_camera(facade: FacadeClient, show: LiveShow) -> tuple[str, str]:
    """A source of the show that is to be seen in its room; gives its id and where it is pushed to."""
    preview = {"webrtc": {"enabled": True, "displayName": "Camera"}}
    made = {"address": {"rtmpPush": {}}, "preview": preview}
    source = facade.call("POST", f"/collection/{show.collection}/source", made)["source"]
    facade.call("PUT", f"{show.path}/source/{source['sourceId']}", {})
    return str(source["sourceId"]), str(source["address"]["rtmpPush"]["url"])


async def test_two_browsers_see_and_hear_each_other_and_a_camera_until_the_room_is_closed(
    facade_client: FacadeClient, make_show: Callable[..., LiveShow], cluster: LocalCluster
) -> None:
    show = make_show(**HOSTED)
    others = facade_client.another_session(cluster.api_key())
    facade_client.call("PUT", f"{show.path}/webrtc/start", {})
    url = str(facade_client.http.base_url).rstrip("/").replace("http", "ws", 1) + "/webrtc/v2"
    first, second = join(facade_client, show, "Anna"), join(others, show, "Ben")
    async with AsyncExitStack() as stack:
        stream = stack.enter_context(WebSocket(facade_client, facade_client.token))
        stream.subscribe(JOINS, projectId=show.project)
        anna = await stack.enter_async_context(participant(url, first))
        ben = await stack.enter_async_context(participant(url, second))
        await anna.until("in the room", lambda report: report["identity"] == "e2e", 40)
        await ben.until("in the room beside", lambda report: report["identity"] == "e2e#2", 40)
        heard = [each["event"]["payload"]["participant"]["join"] for each in events_of(stream, 2)]
        assert {each["displayName"] for each in heard} == {"Anna", "Ben"}
        await anna.until("Ben is seen", lambda report: report["frames"]["e2e#2 camera"] > 5, 40)
        await ben.until("Anna is seen", lambda report: report["frames"]["e2e camera"] > 5, 40)
        await ben.until("Anna is heard", lambda report: report["loud"]["e2e microphone"])
        room = cluster.until("both are told", lambda: (r := _room(cluster, show)).get("count") == 2 and r)
        assert {each["displayName"] for each in room["participants"]} == {"Anna", "Ben"}
        camera, pushed = add_camera(facade_client, show)
        with FfmpegEncoder(pushed):
            await ben.until("it is seen", lambda report: report["frames"][f"{camera} screen_share"] > 5, 20)
            assert ben.report["participants"][camera]["name"] == "Camera"
        await ben.until("it is gone", lambda report: camera not in report["participants"], 5)
        facade_client.call("PUT", f"{show.path}/webrtc/stop", {})
        await anna.until("out", lambda report: report["state"] == "disconnected")
        await ben.until("out", lambda report: report["state"] == "disconnected")


def _room(cluster: LocalCluster, show: LiveShow) -> dict[str, object]:
    found: dict[str, object] = cluster.get("project", show.project).get("status", {}).get("room") or {}
    return found
