"""Custom events: published on every transport, received on every transport, on both replicas."""

from __future__ import annotations

import uuid

import pytest
from tests.support.event_client import PUBLISH, HttpStream, SignIn, WebSocket
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.fixtures import doors

from onair_crds.shapes import JsonObject

door, pytest_generate_tests = doors.door, doors.pytest_generate_tests


def test_an_event_reaches_all_transports_on_both_replicas(
    host: User, one: FacadeThread, two: FacadeThread
) -> None:
    query = {"subscribe.name": "poll:*", "sessionId": "line"}
    with (
        WebSocket(one, host.token, sessionid="socket") as socket,
        HttpStream(two, host, sse=False, **query) as lines,
        HttpStream(two, host, sse=True, **query) as sse,
    ):
        assert socket.socket.subprotocol == "Bearer"
        socket.subscribe("poll:*")
        assert lines.response.headers["content-type"].startswith("application/x-ndjson")
        assert sse.response.headers["content-type"].startswith("text/event-stream")
        for stream in (lines, sse):
            assert stream.next()["result"] == {
                "sessionId": "line",
                "subscribed": {"name": "poll:*", "target": {}},
            }
        body = {"name": "poll:opened", "payload": {"n": 2**70, "text": "ü"}, "requestMetadata": {"why": 1}}
        event = host.ok("POST", PUBLISH, body, headers={"SessionId": "caller"})
        assert uuid.UUID(event["id"])
        assert event == {**body, "id": event["id"]}
        streams: tuple[WebSocket | HttpStream, ...] = (socket, lines, sse)
        for each in streams:
            assert each.next() == {"result": {"sessionId": "caller", "event": event}}
        assert host.ok("POST", PUBLISH, {"name": "other", "payload": {}})["name"] == "other"
        for each in streams:
            each.assert_silent()


@pytest.mark.parametrize("header", ["SessionId", "apistream-sessionid"])
def test_the_publisher_is_named_by_either_header(host: User, one: FacadeThread, header: str) -> None:
    with WebSocket(one, host.token) as stream:
        stream.subscribe("*")
        host.ok("POST", PUBLISH, {"name": "e", "payload": {}}, headers={header: "caller"})
        assert stream.next()["result"]["sessionId"] == "caller"


@pytest.mark.parametrize("way", ["subprotocol", "header", "query"])
def test_the_token_comes_in_any_of_three_ways(host: User, one: FacadeThread, way: str) -> None:
    with WebSocket(one, host.token, way=way, unknown="ignored") as socket:
        assert socket.ask(ping="a ü", correlationId="c1")["pong"] == "a ü"
        assert socket.ask(ping="")["pong"] == ""


def test_a_publisher_receives_its_own_event_and_a_reply_with_its_correlation_id(
    host: User, one: FacadeThread, two: FacadeThread
) -> None:
    with WebSocket(one, host.token, sessionid="me") as mine, WebSocket(two, host.token) as other:
        mine.subscribe()
        other.subscribe("a|b*")
        mine.send(correlationId="c7", publish={"name": "b1", "payload": {"x": 1}})
        results = [mine.next()["result"] for _ in range(2)]
        assert {r["correlationId"] for r in results} == {"c7"}
        assert {r["sessionId"] for r in results} == {"me"}
        published = next(r["published"] for r in results if "published" in r)
        assert next(r["event"] for r in results if "event" in r) == published
        assert other.next()["result"] == {"sessionId": "me", "event": published}


def test_an_unsubscribed_name_is_not_delivered(host: User, one: FacadeThread) -> None:
    with WebSocket(one, host.token) as socket:
        assert socket.ask(subscribe={"name": "a", "events": []}, correlationId="1")["subscribed"] == {
            "name": "a",
            "target": {},
        }
        socket.subscribe("a|c")
        host.ok("POST", PUBLISH, {"name": "a", "payload": {}})
        assert socket.next()["result"]["event"]["name"] == "a"
        socket.assert_silent()  # two subscriptions match, and it came once
        for name in ("a", "a|c"):
            assert socket.ask(unsubscribe={"name": name})["unsubscribed"]["name"] == name
        host.ok("POST", PUBLISH, {"name": "a", "payload": {}})
        socket.assert_silent()
        assert "unsubscribed" in socket.ask(unsubscribe={"name": "a"})


def test_the_query_publishes_an_empty_payload(host: User, one: FacadeThread) -> None:
    with HttpStream(
        one, host, sse=False, **{"subscribe.name": "*", "publish.name": "hi", "correlationId": "q"}
    ) as lines:
        results = [lines.next()["result"] for _ in range(3)]
        assert results[0]["subscribed"]["name"] == "*"
        assert {r["correlationId"] for r in results} == {"q"}
        assert next(r["published"] for r in results if "published" in r)["payload"] == {}


def test_scopes(host: User, one: FacadeThread, two: FacadeThread, sign_in: SignIn) -> None:
    show = host.project()
    sibling = host.project(show.collection)
    other = host.project()
    stranger = sign_in(facade=one)
    ids = {"collectionId": show.collection, "projectId": show.id}

    def opened(**target: str) -> WebSocket:
        socket = WebSocket(two, host.token)
        socket.subscribe("e|end", **target)  # the projects' own events may still come
        return socket

    streams = {
        "everything": opened(),
        "collection": opened(collectionId=show.collection),
        "project": opened(projectId=show.id),
        "both": opened(**ids),
        "sibling": opened(projectId=sibling.id),
        "other": opened(projectId=other.id),
    }
    foreign = WebSocket(two, stranger.token)
    foreign.subscribe()

    def received_by(target: dict[str, str] | None) -> set[str]:
        body: JsonObject = {"name": "e", "payload": {}, **({"target": target} if target else {})}
        event = host.ok("POST", PUBLISH, body)
        host.ok("POST", PUBLISH, {"name": "end", "payload": {}})
        found = set()
        for name, stream in streams.items():
            result = stream.next()["result"]
            if result["event"] == event:
                found.add(name)
                result = stream.next()["result"]
            assert result["event"]["name"] == "end"
        return found

    try:
        assert received_by({"projectId": show.id}) == {"everything", "collection", "project", "both"}
        assert received_by(ids) == {"everything", "collection", "project", "both"}
        assert received_by({"collectionId": show.collection}) == {
            "everything",
            "collection",
            "project",
            "sibling",
        }
        assert received_by(None) == set(streams)
        foreign.assert_silent()
    finally:
        for stream in (*streams.values(), foreign):
            stream.close()
    target = host.ok("POST", PUBLISH, {"name": "e", "payload": {}, "target": {"projectId": show.id}})[
        "target"
    ]
    assert target == ids, "ids are completed upwards"


WRONG = [
    ({"name": "apistream:live:EVENT_TYPE_PROJECT:EVENT_SUB_TYPE_DELETE", "payload": {}}, "name: must not be"),
    ({"name": "apistream:layout:EVENT_TYPE_LAYER:EVENT_SUB_TYPE_X", "payload": {}}, "name: must not be"),
    ({}, "name: is required; payload: is required"),
    ({"name": "", "payload": {}}, "name: is required"),
    ({"name": "x" * 129, "payload": {}}, "name: must be at most 128 characters"),
    ({"name": 1, "payload": {}}, "name: must be a string"),
    ({"name": "a", "payload": [1]}, "payload: must be an object"),
    ({"name": "a", "payload": {"x": "y" * 70_000}}, "payload: must be at most 65536 bytes as JSON"),
    ({"name": "a", "payload": {}, "requestMetadata": 1}, "requestMetadata: must be an object"),
    ({"name": "a", "payload": {}, "target": "c"}, "target: must be an object"),
    (
        {"name": "a", "payload": {}, "target": {"projectId": 5}},
        "target.projectId: must be a string of at most 253",
    ),
]


@pytest.mark.parametrize(("body", "said"), WRONG)
def test_what_cannot_be_published(host: User, one: FacadeThread, body: JsonObject, said: str) -> None:
    response = host.call("POST", PUBLISH, body)
    assert (response.status_code, response.json()["code"]) == (400, 3)
    assert response.json()["message"].startswith(said)
    assert response.json()["details"]
    with WebSocket(one, host.token) as socket:
        error = socket.ask(publish=body, correlationId="t")
        assert error["correlationId"] == "t"
        assert error["error"]["code"] == 3
        assert error["error"]["message"].startswith("INVALID_ARGUMENT: publish.")
        assert socket.ask(ping="still open")["pong"] == "still open"


def test_what_the_caller_does_not_see_is_not_found(host: User, one: FacadeThread, sign_in: SignIn) -> None:
    foreign = sign_in(facade=one).project()
    own = host.project()
    with WebSocket(one, host.token) as socket:
        for target in (
            {"projectId": foreign.id},
            {"collectionId": foreign.collection},
            {"layoutId": "none"},
            {"projectId": own.id, "collectionId": foreign.collection},
        ):
            body = {"name": "a", "payload": {}, "target": target}
            response = host.call("POST", PUBLISH, body)
            assert (response.status_code, response.json()["code"]) == (404, 5)
            for request in ({"publish": body}, {"subscribe": body}):
                assert socket.ask(**request)["error"]["code"] == 5
        query = {"subscribe.name": "*", "subscribe.target.projectId": foreign.id, "ping": "p"}
        with HttpStream(one, host, sse=False, **query) as lines:
            assert lines.next()["result"]["error"]["code"] == 5
            assert lines.next()["result"]["pong"] == "p"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"ping":"a","publish":{}}',
        '{"unknown":{}}',
        '{"subscribe":{}}',
        '{"ping":1}',
    ],
)
def test_a_bad_request_never_closes_the_stream(host: User, one: FacadeThread, text: str) -> None:
    with WebSocket(one, host.token) as socket:
        socket.socket.send(text)
        assert socket.next()["result"]["error"]["code"] == 3
        assert socket.ask(ping="on")["pong"] == "on"


def test_a_layouts_ids_must_match(host: User, one: FacadeThread, resources: StoredResources) -> None:
    show, other = host.project(), host.project()
    layout = f"layout-{show.id}"
    resources.apply("Layout", "layouts", layout, {"projectId": show.id, "collectionId": show.collection})
    target = {"layoutId": layout, "projectId": show.id, "collectionId": show.collection}
    with WebSocket(one, host.token) as socket:
        socket.subscribe("*", collectionId=show.collection)
        body = {"name": "a", "payload": {}, "target": {"layoutId": layout}}
        assert host.ok("POST", PUBLISH, body)["target"] == target
        while (event := socket.next()["result"]["event"])["name"] != "a":
            pass
        assert event["target"] == target
    for field, value in (("projectId", other.id), ("collectionId", other.collection)):
        response = host.call("POST", PUBLISH, {**body, "target": {"layoutId": layout, field: value}})
        assert response.status_code == 400
        assert response.json()["message"].startswith(f"target.{field}: is not the layout's")
