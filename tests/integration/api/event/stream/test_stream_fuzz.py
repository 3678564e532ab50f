"""Generated messages and queries: each gets a reply that fits the schema, none ends the stream."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import httpx
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.event_client import HttpStream, WebSocket
from tests.support.facade import FacadeThread, User

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.fuzz

EXAMPLES = 150 if "ONAIR_FUZZ_S" not in os.environ else 5000
SCHEMA = "#/components/schemas/StreamEventsResponse"

texts = st.text(max_size=20) | st.sampled_from(["*", "a|b", "poll:*", "", "\0", "a" * 3000])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=8
)
ids = st.sampled_from(["collectionId", "projectId", "layoutId", "project_id", "noSuchId"])
targets = st.dictionaries(ids, texts | values, max_size=2) | values
bodies = (
    st.fixed_dictionaries(
        {"name": texts},
        optional={"target": targets, "payload": values, "requestMetadata": values},
    )
    | values
)
kinds = st.sampled_from(["subscribe", "unsubscribe", "publish", "ping", "noSuchKind"])
messages = (
    st.dictionaries(kinds, bodies, max_size=2).flatmap(
        lambda made: st.fixed_dictionaries(
            {k: st.just(v) for k, v in made.items()}, optional={"correlationId": texts | values}
        )
    )
    | values
)
queries = st.dictionaries(
    st.sampled_from(
        [
            "subscribe.name",
            "subscribe.target.projectId",
            "subscribe.target.noSuchId",
            "unsubscribe.name",
            "publish.name",
            "publish.target.layoutId",
            "ping",
            "correlationId",
            "sessionId",
            "noSuchParameter",
        ]
    ),
    texts,
    max_size=6,
)

Check = Callable[[JsonObject], None]


@pytest.fixture(scope="module")
def host(one: FacadeThread, sign_in: Callable[..., User]) -> User:
    return sign_in(facade=one)


@pytest.fixture(scope="module")
def check(one: FacadeThread) -> Check:
    document = one.http.get("/openapi.json").json()
    validator = jsonschema_rs.validator_for({"$ref": SCHEMA, "components": document["components"]})

    def valid(message: JsonObject) -> None:
        assert validator.is_valid(message), (message, [e.message for e in validator.iter_errors(message)])

    return valid


@pytest.fixture(scope="module")
def socket(one: FacadeThread, host: User) -> Iterator[WebSocket]:
    with WebSocket(one, host.token) as stream:
        yield stream


def replies(stream: WebSocket, check: Check) -> list[JsonObject]:
    """Everything that comes before the reply to a ping sent last."""
    tag = uuid.uuid4().hex
    stream.send(ping=tag)
    found: list[JsonObject] = []
    while True:
        message = stream.next()
        check(message)
        if message["result"].get("pong") == tag:
            return found
        if "event" not in message["result"]:
            found.append(message["result"])


KINDS = {"pong", "error", "subscribed", "unsubscribed", "published"}


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=messages)
def test_any_message_gets_one_reply(socket: WebSocket, check: Check, message: Any) -> None:
    socket.socket.send(json.dumps(message))
    (reply,) = replies(socket, check)
    assert len(KINDS & reply.keys()) == 1
    if "error" in reply:
        assert reply["error"]["code"] in (3, 5, 8), reply
    tag = message.get("correlationId") if isinstance(message, dict) else None
    assert reply.get("correlationId") == (tag if isinstance(tag, str) and len(tag) <= 1024 else None)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=st.binary(max_size=60) | st.text(max_size=60))
def test_any_bytes_get_one_reply(socket: WebSocket, check: Check, message: bytes | str) -> None:
    socket.socket.send(message)
    (reply,) = replies(socket, check)
    assert reply["error"]["code"] == 3 or KINDS & reply.keys()


@settings(max_examples=EXAMPLES // 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries, sse=st.booleans())
@example(query={"subscribe.name": "\x85 \u2028 \u2029"}, sse=False)
@example(query={"ping": "\x85 \u2028 \u2029"}, sse=True)
def test_any_query_opens_a_stream_that_replies(
    one: FacadeThread, host: User, check: Check, query: dict[str, str], sse: bool
) -> None:
    asked = {name.split(".")[0] for name in query} & {"subscribe", "unsubscribe", "publish", "ping"}
    with HttpStream(one, host, sse=sse, **query) as stream:
        assert stream.response.status_code == 200
        kind = "text/event-stream" if sse else "application/x-ndjson"
        assert stream.response.headers["content-type"].startswith(kind)
        left = len(asked)
        while left:
            message = stream.next()
            check(message)
            left -= "event" not in message["result"]


@settings(max_examples=EXAMPLES // 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries, token=st.none() | st.text(max_size=30) | st.just("bad.bad.bad"))
def test_without_a_valid_token_nothing_opens(
    one: FacadeThread, query: dict[str, str], token: str | None
) -> None:
    credentials = {} if token is None else {"access_token": token}
    response = one.http.get(f"/event/v2/stream?{urlencode({**query, **credentials})}")
    assert (response.status_code, response.json()["code"]) == (401, 16), httpx.codes(response.status_code)
