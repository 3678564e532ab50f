"""What public clients rely on without saying so, through both doors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.support import rpc
from tests.support.doors import RPC
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.layouts import layout
from tests.support.tokens import assert_error, invite
from tests.support.waiting import wait_for

from onair_api.rpc.descriptors import messages_of

GUEST_CODE = "/authentication/token/guest-code"


def test_the_first_collection_comes_with_all_that_is_in_it(anna: User) -> None:
    show = anna.project(webrtc={"hosted": {}})
    destination = show.destination()
    source = anna.ok("POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}})["source"]
    anna.ok(
        "PUT", f"{show.path}/source/{source['sourceId']}", {"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR"}}
    )
    anna.ok(
        "POST", GUEST_CODE, {"collectionId": show.collection, "projectId": show.id, "url": "https://a.b/"}
    )
    anna.collection(metadata={"second": True})
    first = anna.ok("GET", "/collection")["collections"][0]
    assert first["collectionId"] == show.collection
    (project,) = first["projects"]
    assert [each["sourceId"] for each in (*first["sources"], *project["sources"])] == [source["sourceId"]] * 2
    assert [each["destinationId"] for each in project["destinations"]] == [destination["destinationId"]]
    assert project["triggers"][0]["source"]["sourceId"] == source["sourceId"]
    assert project["guestCodes"][0]["linkUrl"] == project["guestCodes"][0]["url"]
    for name in ("rendering", "encoding", "composition", "webrtc", "metadata"):
        assert name in project


def on_air_with_a_source(user: User) -> tuple[Show, str]:
    show = user.project()
    made = user.ok("POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}})["source"]
    user.ok("PUT", f"{show.path}/source/{made['sourceId']}", {})
    show.start()
    return show, made["sourceId"]


@pytest.mark.parametrize("what", ["destination", "source in a project", "source", "project", "collection"])
def test_force_is_needed_for_the_same_things(anna: User, what: str) -> None:
    show, source = on_air_with_a_source(anna)
    path = {
        "destination": f"{show.path}/destination/{show.destination()['destinationId']}",
        "source in a project": f"{show.path}/source/{source}",
        "source": f"/collection/{show.collection}/source/{source}",
        "project": show.path,
        "collection": f"/collection/{show.collection}",
    }[what]
    assert_error(anna.call("DELETE", path), 400, 9)
    assert_error(anna.call("DELETE", f"{path}?force=false"), 400, 9)
    assert anna.call("DELETE", f"{path}?force=true").is_success


@pytest.mark.parametrize("order", ["together", "project first", "layout first"])
@pytest.mark.parametrize("role", ["host", "cohost"])
def test_a_project_and_its_layout_are_deleted_in_any_order(
    anna: User, second_facade: FacadeThread, order: str, role: str
) -> None:
    other = User(second_facade, anna.token)

    def is_known(path: str) -> bool:
        return other.call("GET", path).is_success

    for _ in range(4):
        show = anna.project()
        canvas = layout(show)
        cohost = invite(show, "COHOST")
        for path in (show.path, canvas.path):
            wait_for(partial(is_known, path), "the other replica knows it")
        deleter = User(second_facade, cohost.token if role == "cohost" else anna.token)

        def delete_project(show: Show = show) -> int:
            return anna.call("DELETE", show.path).status_code

        def delete_layout(path: str = canvas.path, deleter: User = deleter) -> int:
            return deleter.call("DELETE", path).status_code

        steps: list[Callable[[], int]] = (
            [delete_layout, delete_project] if order == "layout first" else [delete_project, delete_layout]
        )
        if order == "together":
            with ThreadPoolExecutor(2) as pool:
                statuses = [each.result() for each in [pool.submit(step) for step in steps]]
        else:
            statuses = [step() for step in steps]
        assert statuses == [200, 200]


def test_a_strangers_layout_is_as_unknown_as_before_when_it_has_gone(
    anna: User, sign_in: Any, resources: StoredResources
) -> None:
    show = anna.project()
    gone, deleted = layout(show), layout(show)
    assert deleted.call("DELETE").is_success
    assert_error(deleted.call("DELETE"), 404, 5)
    anna.ok("DELETE", show.path)
    stranger = sign_in()
    guest = invite(stranger.project(), "COHOST")
    for user in (stranger, guest):
        assert_error(user.call("DELETE", gone.path), 404, 5)
    assert anna.ok("DELETE", gone.path, {"requestMetadata": {"a": 1}})["requestMetadata"] == {"a": 1}
    assert_error(anna.call("GET", gone.path), 404, 5)


def test_layer_events_always_have_their_request_metadata(host: User) -> None:
    show = host.project()
    canvas = layout(show)
    sent = {"connectionId": "c", "layoutId": canvas.id, "updateVersions": {"a": 1}}
    with WebSocket(host.facade, host.token) as stream:
        stream.subscribe("apistream:layout:EVENT_TYPE_LAYER:*", layoutId=canvas.id)
        for metadata in ({}, {"requestMetadata": sent}):
            made = canvas.add("child", **metadata)["id"]
            canvas.call("PATCH", f"/layers/{made}", {"x": 1, **metadata})
            canvas.batch({"update": {"id": made, "x": 2, **metadata}}, **metadata)
            canvas.delete(made, metadata or None)
            expected = metadata.get("requestMetadata", {})
            for kind in ("create", "update", "batch", "delete"):
                (record,) = stream.next()["result"]["event"]["payload"]["layer"].values()
                assert record["requestMetadata"] == expected, kind
                if kind == "update":
                    assert record["children"] == []
                if kind == "batch":
                    assert record["layers"][0]["update"]["requestMetadata"] == expected


@pytest.mark.parametrize("hosted", [{}, {"enabled": True}])
def test_a_hosted_room_is_enabled_unless_it_says_otherwise(anna: User, hosted: dict[str, bool]) -> None:
    show = anna.project(webrtc={"hosted": hosted})
    assert show.get()["project"]["webrtc"] == {"hosted": {"enabled": True}}
    assert show.patch(updateMask="webrtc", webrtc={"hosted": {"enabled": False}})
    assert show.get()["project"]["webrtc"] == {"hosted": {"enabled": False}}


def test_a_start_takes_dynamic_sources_and_leaves_them(
    anna: User, resources: StoredResources, door: str
) -> None:
    """Over RPC they are a field that our messages do not have: an address by name."""
    show = anna.project()
    if door == RPC:
        service, method = "live.v21.ProjectService", "StartProjectBroadcast"
        request = messages_of(service, method).request(collection_id=show.collection, project_id=show.id)
        address = field(2, field(1, field(1, b"rtmp://a.example/live")))
        request.MergeFromString(field(5, field(1, b"camera") + address))
        reply = rpc.call(anna.facade.http, service, method, request, anna.headers)
        response: Any = rpc.response_of(reply, service, method)
        run = response.broadcast_id
    else:
        sources = {"camera": {"rtmpPull": {"url": "rtmp://a.example/live"}}}
        run = anna.ok("POST", f"{show.path}/broadcast/start", {"dynamicSources": sources})["broadcastId"]
    spec = resources.get("projects", show.id)["spec"]
    assert spec["broadcast"] == {"state": "Running", "id": run}
    assert "sources" not in spec


def field(number: int, data: bytes) -> bytes:
    """A field of a binary message that has a length, of at most 127."""
    return bytes([number << 3 | 2, len(data)]) + data
