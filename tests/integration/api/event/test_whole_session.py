"""A whole session as clients drive it: a host on one replica, a guest on the other, both subscribed."""

from __future__ import annotations

from tests.support.event_client import WebSocket, events_of
from tests.support.facade import FacadeThread, StoredResources, User

from onair_crds.shapes import JsonObject


def received(stream: WebSocket, count: int) -> list[JsonObject]:
    return [result["event"] for result in events_of(stream, count)]


def test_both_see_what_http_and_kubectl_change_in_order_and_under_the_same_ids(
    host: User, one: FacadeThread, two: FacadeThread, resources: StoredResources
) -> None:
    show = host.project()
    layout = host.ok(
        "POST",
        "/layout/v2/layouts",
        {"projectId": show.id, "collectionId": show.collection, "type": "LAYOUT_TYPE_SCENE"},
    )
    invitation = host.ok(
        "POST",
        "/authentication/token/guest",
        {
            "collectionId": show.collection,
            "projectId": show.id,
            "role": "ROLE_CONTRIBUTOR",
            "token": {"exchange": {}},
        },
    )["accessToken"]
    renewed = User(two, invitation).call("PUT", "/authentication/token", {})
    assert renewed.status_code == 200, renewed.text
    guest = User(two, renewed.headers["Authorization"].removeprefix("Bearer "))

    with WebSocket(one, host.token, sessionid="hosts") as a, WebSocket(two, guest.token) as b:
        for stream in (a, b):
            stream.subscribe("apistream:*|chat", projectId=show.id)
        layers = f"/layout/v2/layouts/{layout['id']}/layers"
        layer = host.ok(
            "POST",
            layers,
            {"type": "text", "data": {"text": "hello"}, "requestMetadata": {"why": "title"}},
            headers={"SessionId": "hosts"},
        )
        seen, also = received(a, 1), received(b, 1)  # the guest's replica knows the layer
        guest.ok("PATCH", f"{layers}/{layer['id']}", {"x": 10, "y": 20})
        show.patch(updateMask="metadata", metadata={"scene": 2})
        resources.patch("projects", show.id, {"spec": {"metadata": {"scene": 3}}})
        resources.set_broadcast(show.id, {"id": "run", "epoch": 1, "phase": "Starting"})
        resources.set_broadcast(show.id, {"id": "run", "epoch": 1, "phase": "Running"})
        seen += received(a, 5)
        also += received(b, 5)

        def of(events: list[JsonObject], part: str) -> list[JsonObject]:
            return [e for e in events if part in e["name"]]

        for events in (seen, also):
            created, moved = of(events, "EVENT_TYPE_LAYER")
            assert created["name"].endswith("CREATE")
            assert created["requestMetadata"] == {"why": "title"}
            assert moved["payload"]["layer"]["update"]["x"] == 10
            records = [e["payload"]["project"] for e in of(events, "EVENT_TYPE_PROJECT")]
            assert [r["update"]["project"]["metadata"]["scene"] for r in records[:2]] == [2, 3]
            assert [r["state"]["phase"].rpartition("PHASE_")[2] for r in records[2:]] == [
                "STARTING",
                "RUNNING",
            ]
        assert {e["id"] for e in seen} == {e["id"] for e in also}

        published = guest.call(
            "POST",
            "/event/v2/publish",
            {"name": "chat", "payload": {"text": "hi"}, "target": {"projectId": show.id}},
        )
        assert published.status_code == 200, published.text
        for stream in (a, b):
            (event,) = received(stream, 1)
            assert (event["id"], event["payload"]) == (published.json()["id"], {"text": "hi"})
