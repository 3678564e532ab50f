"""What guests receive and may publish: their project, and what is published to its collection."""

from __future__ import annotations

import pytest
from tests.support.event_client import PUBLISH, HttpStream, WebSocket, events_of
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.layouts import layout
from tests.support.tokens import invite, refreshed
from tests.support.waiting import wait_for
from tests.support.who_may import WHO_MAY

from onair_crds.resources.enums import Role


def publish(user: User, name: str, **target: str) -> None:
    user.ok("POST", PUBLISH, {"name": name, "payload": {}, "target": target})


def received(stream: WebSocket, last: str = "end") -> list[str]:
    """Names of events up to the last."""
    names: list[str] = []
    while not names or names[-1] != last:
        (result,) = events_of(stream, 1)
        names.append(result["event"]["name"].removeprefix("apistream:"))
    return names


def test_a_guest_receives_its_project_and_what_is_published_above(
    host: User, two: FacadeThread, resources: StoredResources
) -> None:
    show = host.project()
    sibling = host.project(show.collection)
    camera = {
        "collectionId": show.collection,
        "address": {"rtmpPull": {"url": "rtmp://a.example/secret-path"}},
    }
    resources.apply("Source", "sources", f"a-{show.id}", camera)
    resources.apply("Source", "sources", f"b-{show.id}", camera)
    show.patch(metadata=0)
    guest = invite(show, "GUEST")
    wait_for(lambda: knows(two, show, f"a-{show.id}", f"b-{show.id}"), "the other replica is up to date")
    with WebSocket(two, guest.token) as stream, WebSocket(two, host.token) as owner:
        stream.subscribe()
        owner.subscribe()
        publish(host, "mine", projectId=show.id)
        publish(host, "siblings", projectId=sibling.id)
        publish(host, "above", collectionId=show.collection)
        host.ok("PATCH", f"/collection/{show.collection}", {"metadata": "private"})
        sibling.patch(metadata=1)
        show.patch(metadata=1)
        show.destination()
        host.ok("PUT", f"{show.path}/source/a-{show.id}", {})
        awaited = {"DESTINATION", "SUB_TYPE_ADD"}  # by two watches, in either order
        while awaited:
            name = events_of(owner, 1)[0]["event"]["name"]
            awaited = {each for each in awaited if each not in name}
        for source in ("a", "b"):
            resources.patch("sources", f"{source}-{show.id}", {"spec": {"metadata": source}})
            assert "SOURCE" in events_of(owner, 1)[0]["event"]["name"]
        publish(guest, "end", projectId=show.id)
        names = received(stream)
        live = "live:EVENT_TYPE_{}:EVENT_SUB_TYPE_{}".format
        assert sorted(names) == sorted(
            [
                "mine",
                "above",
                live("PROJECT", "UPDATE"),
                live("DESTINATION", "CREATE"),
                live("SOURCE", "ADD"),
                live("SOURCE", "UPDATE"),
                "end",
            ]
        )


def test_guests_receive_layouts_where_they_may_read_them(host: User, one: FacadeThread) -> None:
    show = host.project()
    guest, renderer = invite(show, "GUEST"), refreshed(invite(show, "RENDERER", exchange={}))
    with WebSocket(one, guest.token) as plain, WebSocket(one, renderer.token) as drawing:
        for stream in (plain, drawing):
            stream.subscribe()
        layout(show)
        assert "LAYOUT:" in events_of(drawing, 1)[0]["event"]["name"]
        publish(host, "end", projectId=show.id)
        assert received(plain) == ["end"]


def test_where_a_guest_may_publish(host: User, one: FacadeThread, two: FacadeThread) -> None:
    show = host.project()
    sibling = host.project(show.collection)
    guest, other = invite(show, "GUEST"), invite(sibling, "GUEST")
    with (
        WebSocket(one, host.token) as owner,
        WebSocket(two, other.token) as neighbour,
        WebSocket(two, guest.token) as own,
    ):
        for stream in (owner, neighbour, own):
            stream.subscribe("hello|to myself|a")
        publish(guest, "hello", projectId=show.id)
        for stream in (owner, own):
            assert events_of(stream, 1)[0]["event"]["name"] == "hello"
        response = guest.call(
            "POST", PUBLISH, {"name": "a", "payload": {}, "target": {"collectionId": show.collection}}
        )
        assert (response.status_code, response.json()["code"]) == (403, 7)
        response = guest.call(
            "POST", PUBLISH, {"name": "a", "payload": {}, "target": {"projectId": sibling.id}}
        )
        assert (response.status_code, response.json()["code"]) == (404, 5)
        guest.ok("POST", PUBLISH, {"name": "to myself", "payload": {}})
        assert events_of(own, 1)[0]["event"]["name"] == "to myself"
        owner.assert_silent()
        neighbour.assert_silent()


def knows(facade: FacadeThread, show: Show, *sources: str) -> bool:
    """Whether a replica has these sources, and a project as it was first changed: older events are out."""
    project = facade.view.get("Project", show.id)
    found = all(facade.view.get("Source", each) for each in sources)
    return found and project is not None and project.spec.get("metadata") == 0


@pytest.mark.parametrize("role", [r for r in Role if r not in (Role.HOST, Role.PLATFORM, Role.IMPERSONATE)])
def test_every_role(host: User, one: FacadeThread, role: Role) -> None:
    guest = invite(host.project(), role.name)
    assert "StreamEvents" in WHO_MAY[role], "every guest may subscribe"
    may_publish = "PublishEvent" in WHO_MAY[role]
    response = guest.call("POST", PUBLISH, {"name": "a", "payload": {}})
    assert response.status_code == (200 if may_publish else 403)
    with WebSocket(one, guest.token) as socket:
        result = socket.ask(publish={"name": "a", "payload": {}})
        assert "published" in result if may_publish else result["error"]["code"] == 7
    with HttpStream(one, guest, sse=False, **{"publish.name": "a"}) as lines:
        result = lines.next()["result"]
        assert "published" in result if may_publish else result["error"]["code"] == 7


def test_a_stream_does_not_redeem_what_can_only_be_refreshed(host: User, one: FacadeThread) -> None:
    exchange = invite(host.project(), "GUEST", exchange={})
    with WebSocket(one, exchange.token) as socket:
        assert socket.next()["code"] == 7
        assert socket.closed() == 1008
