"""The public SDK, unmodified, drives a whole session."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.facade import FacadeThread, StartFacade, StoredResources
from tests.support.fixtures.facade import STREAMS, redis_connected
from tests.support.redis_server import RedisServer
from tests.support.rooms.hosted_rooms import add_credentials, room_server, settings_for
from tests.support.sdk.public_sdk import endpoints, in_browser, in_node
from tests.support.sdk.session_report import check, check_connected, check_joined, check_room
from tests.support.waiting import wait_for

from onair_api.settings import RedisSettings


@pytest.fixture(scope="module")
def settings(one: FacadeThread, api_key: str, sign_in: Any) -> dict[str, Any]:
    sign_in()  # the API key is known now
    return {
        "endpoints": endpoints(one.url),
        "sessionId": secrets.token_hex(8),
        "apiKey": api_key,
        "user": f"user-{secrets.token_hex(4)}",
        "sourceConnects": True,
    }


@pytest.fixture
def open_rooms(resources: StoredResources) -> Iterator[set[str]]:
    """Projects whose room was to be open.

    Puts broadcasts on air, takes them off again and connects sources of projects, as an operator does.
    """
    others = {each["metadata"]["name"] for each in resources.list("projects")}
    over, connected, open_rooms = threading.Event(), set[str](), set[str]()

    def operate() -> None:
        while not over.wait(0.05):
            for project in resources.list("projects"):
                name, wanted = project["metadata"]["name"], project["spec"].get("broadcast", {})
                if name in others:
                    continue
                if project["spec"].get("room", {}).get("state") == "Open":
                    open_rooms.add(name)
                present = project.get("status", {}).get("broadcast", {})
                if wanted.get("id", present.get("id")):
                    told = {"id": present.get("id", wanted.get("id")), "epoch": 1, "phase": wanted["state"]}
                    if told != present:
                        resources.set_broadcast(name, told)
                shown = {each["sourceId"] for each in project["spec"].get("sources", [])}
                for source in shown - connected:
                    resources.patch("sources", source, {"status": {"connect": "Connected"}}, "status")
                    connected.add(source)

    operating = threading.Thread(target=operate)
    operating.start()
    yield open_rooms
    over.set()
    operating.join()


@pytest.fixture
def with_rooms(
    start_facade: StartFacade, resources: StoredResources, redis_server: RedisServer, tmp_path: Path
) -> Iterator[FacadeThread]:
    """A replica with a room server."""
    add_credentials(resources)
    redis = RedisSettings(url=redis_server.url)
    with (
        room_server(tmp_path) as server,
        start_facade(rooms=settings_for(server), redis=redis, events=STREAMS) as facade,
    ):
        wait_for(lambda: redis_connected(facade), "Redis is connected")
        yield facade


def test_in_node(settings: dict[str, Any], open_rooms: set[str]) -> None:
    report = in_node(settings)
    check(report)
    check_connected(report)
    assert report["room"] == {"code": 9}, "there is no room server"
    assert not open_rooms


@pytest.mark.media
async def test_in_a_browser_of_another_origin_by_the_end_points_that_are_built_in(
    settings: dict[str, Any], with_rooms: FacadeThread, open_rooms: set[str]
) -> None:
    mine = {**settings, "user": f"user-{secrets.token_hex(4)}", "joins": True}
    del mine["endpoints"]
    report = await in_browser(mine, f"{with_rooms.url}/sdk/redirect.js")
    check(report)
    check_connected(report)
    check_room(report)
    check_joined(report)
    assert open_rooms == {report["project"]["projectId"]}, "the token opened it"
