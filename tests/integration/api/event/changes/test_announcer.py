"""Resource-change events: of every family, by whichever client changed it, the same on both replicas."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.event_client import HttpStream, WebSocket, events_of
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.fixtures import doors
from tests.support.late_watch import hold_up_with_events
from tests.support.layouts import scene

from onair_api.cache.watched_kinds import PROJECT
from onair_api.event.changes import announcer
from onair_crds.shapes import JsonObject

door, pytest_generate_tests = doors.door, doors.pytest_generate_tests

LIVE = "apistream:live:EVENT_TYPE_{}:EVENT_SUB_TYPE_{}"
LAYOUT = "apistream:layout:EVENT_TYPE_{}:EVENT_SUB_TYPE_{}"
SESSION = {"SessionId": "studio-7"}


@pytest.fixture(autouse=True)
def watches_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine those of two kinds may be further apart than is waited for by default."""
    monkeypatch.setattr(announcer, "PARENT_TIMEOUT_S", 5.0)


class Watchers:
    """The same subscription on both replicas."""

    def __init__(self, host: User, one: FacadeThread, two: FacadeThread) -> None:
        self.first, self.second = WebSocket(one, host.token), WebSocket(two, host.token)
        for each in (self.first, self.second):
            each.subscribe()

    def next(self, name: str) -> JsonObject:
        """The next event, the same on both replicas."""
        (one,), (two,) = events_of(self.first, 1), events_of(self.second, 1)
        assert one["event"]["name"] == name, one
        assert one["event"]["id"] == two["event"]["id"]
        assert one == two
        return one

    def payload(self, type_: str, sub_type: str) -> JsonObject:
        event = self.next(LIVE.format(type_, sub_type))["event"]
        return event["payload"][type_.lower()][sub_type.lower()]  # type: ignore[no-any-return]

    def assert_silent(self) -> None:
        self.first.assert_silent()
        self.second.assert_silent()


@pytest.fixture
def watchers(host: User, one: FacadeThread, two: FacadeThread) -> Iterator[Watchers]:
    watchers = Watchers(host, one, two)
    yield watchers
    watchers.first.close()
    watchers.second.close()


def test_collections_by_http(host: User, watchers: Watchers) -> None:
    body = {"metadata": {"a": 1}, "requestMetadata": {"why": "new season"}}
    made = host.ok("POST", "/collection", body, headers=SESSION)["collection"]
    result = watchers.next(LIVE.format("COLLECTION", "CREATE"))
    collection_id = made["collectionId"]
    assert result["sessionId"] == "studio-7"
    assert result["event"]["requestMetadata"] == {"why": "new season"}
    assert result["event"]["target"] == {"collectionId": collection_id}
    assert result["event"]["payload"] == {
        "collection": {"create": {"collectionId": collection_id, "collection": made}}
    }
    host.ok("PATCH", f"/collection/{collection_id}", {"metadata": 2})
    update = watchers.payload("COLLECTION", "UPDATE")
    assert update["updateMask"] == ["metadata"]
    assert update["collection"]["metadata"] == 2
    host.ok("DELETE", f"/collection/{collection_id}", headers=SESSION)
    result = watchers.next(LIVE.format("COLLECTION", "DELETE"))
    assert result["sessionId"] == "studio-7"
    assert result["event"]["payload"] == {"collection": {"delete": {"collectionId": collection_id}}}
    watchers.assert_silent()


def test_projects_and_destinations_by_http(host: User, watchers: Watchers) -> None:
    show = host.project()
    ids = {"collectionId": show.collection, "projectId": show.id}
    watchers.payload("COLLECTION", "CREATE")
    assert watchers.payload("PROJECT", "CREATE") == {**ids, "project": show.get()["project"]}
    show.patch(
        updateMask="rendering.video.width,rendering.video.height,metadata",
        rendering={"video": {"width": 640, "height": 360}},
        metadata={"x": [1]},
    )
    update = watchers.payload("PROJECT", "UPDATE")
    assert set(update["updateMask"]) == {
        "metadata",
        "rendering.video.width",
        "rendering.video.height",
    }
    assert update["project"] == show.get()["project"]
    made = show.destination()
    created = watchers.payload("DESTINATION", "CREATE")
    assert created["destinationId"] == made["destinationId"]
    assert created["destination"]["address"] == {"rtmpPush": {"url": "rtmp://media.example/live"}}
    path = f"{show.path}/destination/{made['destinationId']}"
    host.ok(
        "PATCH", path, {"updateMask": "address.rtmpPush.key", "address": {"rtmpPush": {"key": "new-key"}}}
    )
    update = watchers.payload("DESTINATION", "UPDATE")
    assert update["updateMask"] == ["address.rtmpPush.key"]
    assert "new-key" not in str(update)
    host.ok("DELETE", f"{path}?force=true")
    assert watchers.payload("DESTINATION", "DELETE") == {**ids, "destinationId": made["destinationId"]}
    watchers.assert_silent()


def test_a_broadcast_by_its_phases(host: User, watchers: Watchers, resources: StoredResources) -> None:
    show = host.project()
    ids = {"collectionId": show.collection, "projectId": show.id}
    watchers.payload("COLLECTION", "CREATE")
    watchers.payload("PROJECT", "CREATE")
    host.ok("POST", f"{show.path}/broadcast/start", headers=SESSION)
    result = watchers.next(LIVE.format("PROJECT", "STATE"))
    state = result["event"]["payload"]["project"]["state"]
    run = state["broadcastId"]
    assert state == {**ids, "broadcastId": run, "phase": "PROJECT_BROADCAST_PHASE_WAITING"}
    assert result["sessionId"] == "studio-7"
    for phase in ("Starting", "Running"):
        resources.set_broadcast(show.id, {"id": run, "phase": phase})
        result = watchers.next(LIVE.format("PROJECT", "STATE"))
        assert "sessionId" not in result, "the operator has no session"
        assert result["event"]["payload"]["project"]["state"]["phase"].endswith(phase.upper())
    resources.set_broadcast(show.id, {"id": run, "phase": "Running", "region": "EuWest1"})
    resources.set_broadcast(show.id, {"id": run, "phase": "Stopped", "error": "DurationExceeded"})
    assert watchers.payload("PROJECT", "STATE") == {
        **ids,
        "broadcastId": run,
        "phase": "PROJECT_BROADCAST_PHASE_STOPPED",
        "error": "PROJECT_BROADCAST_ERROR_DURATION_EXCEEDED",
    }
    again = show.start()
    assert watchers.payload("PROJECT", "STATE")["broadcastId"] == again
    resources.set_broadcast(
        show.id, {"id": again, "phase": "Starting"}, previous={"id": run, "phase": "Archived"}
    )
    assert watchers.payload("PROJECT", "STATE") == {
        **ids,
        "broadcastId": run,
        "phase": "PROJECT_BROADCAST_PHASE_ARCHIVED",
    }
    assert watchers.payload("PROJECT", "STATE")["phase"] == "PROJECT_BROADCAST_PHASE_STARTING"
    watchers.assert_silent()


def test_a_manual_change_does_not_name_the_request_before(
    host: User, watchers: Watchers, resources: StoredResources
) -> None:
    show = host.project()
    watchers.payload("COLLECTION", "CREATE")
    watchers.payload("PROJECT", "CREATE")
    host.ok("PATCH", show.path, {"metadata": 1, "requestMetadata": {"m": 1}}, headers=SESSION)
    assert watchers.next(LIVE.format("PROJECT", "UPDATE"))["sessionId"] == "studio-7"
    resources.patch("projects", show.id, {"spec": {"metadata": "by hand"}})
    result = watchers.next(LIVE.format("PROJECT", "UPDATE"))
    assert "sessionId" not in result
    assert "requestMetadata" not in result["event"]
    assert result["event"]["payload"]["project"]["update"]["project"]["metadata"] == "by hand"
    assert resources.admin.delete(resources.path("projects", show.id)).is_success
    result = watchers.next(LIVE.format("PROJECT", "DELETE"))
    assert "sessionId" not in result


def test_sources_by_kubectl(host: User, watchers: Watchers, resources: StoredResources) -> None:
    show = host.project()
    watchers.payload("COLLECTION", "CREATE")
    watchers.payload("PROJECT", "CREATE")
    name = f"camera-{show.id}"
    spec = {"collectionId": show.collection, "address": {"rtmpPull": {"url": "rtmp://a.example/in"}}}
    resources.apply("Source", "sources", name, spec)
    ids = {"collectionId": show.collection, "sourceId": name}
    created = watchers.payload("SOURCE", "CREATE")
    assert {k: created[k] for k in ids} == ids
    assert created["source"]["sourceId"] == name
    resources.patch(
        "projects", show.id, {"spec": {"sources": [{"sourceId": name, "trigger": {"start": "Or"}}]}}
    )
    assert watchers.payload("PROJECT", "UPDATE")["updateMask"] == ["triggers"]
    added = watchers.payload("SOURCE", "ADD")
    assert added == {**ids, "projectId": show.id, "source": created["source"]}
    resources.patch("sources", name, {"status": {"connect": "Connected"}}, "status")
    connected = {**ids, "connect": "CONNECT_STATE_CONNECTED"}
    assert watchers.payload("SOURCE", "STATE") == connected
    assert watchers.payload("SOURCE", "STATE") == {**connected, "projectId": show.id}
    resources.patch("sources", name, {"spec": {"metadata": 1}})
    update = watchers.payload("SOURCE", "UPDATE")
    assert (update["updateMask"], update["source"]["metadata"]) == (["metadata"], 1)
    resources.patch("projects", show.id, {"spec": {"sources": []}})
    assert watchers.payload("PROJECT", "UPDATE")["updateMask"] == ["triggers"]
    assert watchers.payload("SOURCE", "REMOVE") == {**ids, "projectId": show.id}
    assert resources.admin.delete(resources.path("sources", name)).is_success
    assert watchers.payload("SOURCE", "DELETE") == ids


def test_states_of_destinations(host: User, watchers: Watchers, resources: StoredResources) -> None:
    show = host.project()
    destination = show.destination()["destinationId"]
    for type_ in ("COLLECTION", "PROJECT", "DESTINATION"):
        watchers.payload(type_, "CREATE")
    for connect in ("Connected", "Disconnected"):
        resources.patch("destinations", destination, {"status": {"connect": connect}}, "status")
        assert watchers.payload("DESTINATION", "STATE") == {
            "collectionId": show.collection,
            "projectId": show.id,
            "destinationId": destination,
            "connect": f"CONNECT_STATE_{connect.upper()}",
        }


def test_layouts_by_kubectl(host: User, watchers: Watchers, resources: StoredResources) -> None:
    show = host.project()
    watchers.payload("COLLECTION", "CREATE")
    watchers.payload("PROJECT", "CREATE")
    name = f"scene-{show.id}"
    layer: JsonObject = {"id": "l1", "type": "text", "data": {"text": "a"}}
    spec = {"projectId": show.id, "collectionId": show.collection, "width": 640, "height": 360}
    resources.apply("Layout", "layouts", name, {**spec, "layers": [layer]})
    event = watchers.next(LAYOUT.format("LAYOUT", "CREATE"))["event"]
    assert event["payload"]["layout"]["create"]["id"] == name
    assert event["payload"]["layout"]["create"]["requestMetadata"] == {}
    assert event["target"] == {"collectionId": show.collection, "projectId": show.id, "layoutId": name}
    created = watchers.next(LAYOUT.format("LAYER", "CREATE"))["event"]["payload"]["layer"]["create"]
    assert (created["id"], created["layoutId"], created["data"]) == ("l1", name, {"text": "a"})
    resources.patch(
        "layouts", name, {"spec": {"metadata": 1, "layers": [{**layer, "x": 5}, {"id": "l2", "type": "q"}]}}
    )
    assert (
        watchers.next(LAYOUT.format("LAYOUT", "UPDATE"))["event"]["payload"]["layout"]["update"]["metadata"]
        == 1
    )
    update = watchers.next(LAYOUT.format("LAYER", "UPDATE"))["event"]["payload"]["layer"]["update"]
    assert (update["id"], update["x"], update["requestMetadata"]) == ("l1", 5, {})
    assert (
        watchers.next(LAYOUT.format("LAYER", "CREATE"))["event"]["payload"]["layer"]["create"]["id"] == "l2"
    )
    resources.patch("layouts", name, {"spec": {"layers": [{"id": "l2", "type": "q"}]}})
    deleted = watchers.next(LAYOUT.format("LAYER", "DELETE"))["event"]["payload"]["layer"]["delete"]
    assert deleted == {"id": "l1", "layoutId": name, "requestMetadata": {}}
    assert resources.admin.delete(resources.path("layouts", name)).is_success
    deleted = watchers.next(LAYOUT.format("LAYOUT", "DELETE"))["event"]["payload"]["layout"]["delete"]
    assert deleted == {"id": name, "requestMetadata": {}}


def test_creations_come_parent_before_child(host: User, watchers: Watchers) -> None:
    for _ in range(5):
        show = host.project()
        show.destination()
        for type_ in ("COLLECTION", "PROJECT", "DESTINATION"):
            watchers.payload(type_, "CREATE")


@pytest.mark.parametrize("of_another_replica", [False, True])
def test_a_layout_reaches_its_owner_while_the_watch_of_projects_is_behind(
    host: User,
    one: FacadeThread,
    two: FacadeThread,
    monkeypatch: pytest.MonkeyPatch,
    of_another_replica: bool,
) -> None:
    monkeypatch.setattr(announcer, "PARENT_TIMEOUT_S", 0.25)
    hold_up_with_events(one, PROJECT, monkeypatch)
    with WebSocket(one, host.token) as stream:
        stream.subscribe()
        show = (User(two, host.token) if of_another_replica else host).project()
        canvas = scene(show)
        events = {each["event"]["name"]: each["event"] for each in events_of(stream, 3)}
    target = {"collectionId": show.collection, "projectId": show.id, "layoutId": canvas.id}
    assert events.pop(LIVE.format("COLLECTION", "CREATE"))
    assert {name: each["target"] for name, each in events.items()} == {
        LAYOUT.format("LAYOUT", "CREATE"): target,
        LAYOUT.format("LAYER", "CREATE"): target,
    }


def test_wildcards_select_families(host: User, one: FacadeThread) -> None:
    with HttpStream(
        one, host, sse=False, **{"subscribe.name": "*:EVENT_TYPE_PROJECT:*|*COLLECTION*DELETE"}
    ) as lines:
        assert "subscribed" in lines.next()["result"]
        show = host.project()
        host.ok("DELETE", f"/collection/{show.collection}")
        names = [lines.next()["result"]["event"]["name"] for _ in range(3)]
        assert sorted(names) == sorted(
            [
                LIVE.format("PROJECT", "CREATE"),
                LIVE.format("PROJECT", "DELETE"),
                LIVE.format("COLLECTION", "DELETE"),
            ]
        )
