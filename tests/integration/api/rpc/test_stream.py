"""The event stream over RPC."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx
import pytest
from google.protobuf import json_format
from tests.support.event_client import PUBLISH
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.rpc import TRAILERS, WEB, frame, json_of, reply_of, url_of
from tests.support.waiting import wait_for

from onair_api.rpc.descriptors import messages_of

SERVICE, METHOD = "apis.event.v2.EventService", "Stream"
REQUEST, RESPONSE = messages_of(SERVICE, METHOD)


def requests(*messages: dict[str, Any]) -> bytes:
    return b"".join(frame(json_format.ParseDict(each, REQUEST()).SerializeToString()) for each in messages)


class Results:
    """The messages of an open stream, one after another."""

    def __init__(self, response: httpx.Response) -> None:
        self._parts = response.iter_raw()
        self._rest = b""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        flags, data = self._frame()
        if flags & TRAILERS:
            return {"trailers": data.decode()}
        return json_of(RESPONSE.FromString(data))

    def _frame(self) -> tuple[int, bytes]:
        while len(self._rest) < 5 or len(self._rest) < 5 + int.from_bytes(self._rest[1:5], "big"):
            self._rest += next(self._parts)
        end = 5 + int.from_bytes(self._rest[1:5], "big")
        found, self._rest = (self._rest[0], self._rest[5:end]), self._rest[end:]
        return found


@contextmanager
def opened(user: User, body: bytes, session: str = "s", content_type: str = WEB) -> Iterator[Results]:
    headers = {**user.headers, "content-type": content_type, "sessionid": session}
    url = url_of(SERVICE, METHOD)
    with user.facade.http.stream("POST", url, content=body, headers=headers) as response:
        assert response.status_code == 200
        yield Results(response)


def test_requests_are_replied_to_and_events_follow(host: User) -> None:
    show = host.project()
    target = {"projectId": show.id}
    body = requests(
        {"ping": "hello", "correlationId": "1"},
        {
            "subscribe": {"name": "chat|apistream:*:EVENT_SUB_TYPE_UPDATE", "target": target},
            "correlationId": "2",
        },
        {"subscribe": {"name": ""}, "correlationId": "3"},
        {"correlationId": "4"},
    )
    with opened(host, body) as results:
        assert next(results) == {"correlationId": "1", "sessionId": "s", "pong": "hello"}
        subscribed = next(results)["subscribed"]
        assert (subscribed["name"], subscribed["target"]) == (
            "chat|apistream:*:EVENT_SUB_TYPE_UPDATE",
            target,
        )
        wrong, none = next(results), next(results)
        assert (wrong["correlationId"], wrong["error"]["code"]) == ("3", 3)
        assert (none["correlationId"], none["error"]["code"]) == ("4", 3)
        sent = {"name": "chat", "payload": {"text": "hi", "n": 1}, "target": target}
        host.ok("POST", PUBLISH, sent, headers={"SessionId": "other"})
        chat = next(results)
        assert chat["sessionId"] == "other"
        assert chat["event"].items() >= {"name": "chat", "payload": {"text": "hi", "n": 1}}.items()
        assert chat["event"]["target"]["collectionId"] == show.collection
        show.patch(updateMask="metadata", metadata={"a": [1]})
        changed = next(results)["event"]
        assert changed["name"] == "apistream:live:EVENT_TYPE_PROJECT:EVENT_SUB_TYPE_UPDATE"
        assert changed["payload"]["project"]["update"]["project"]["metadata"] == {"a": [1]}


def test_a_stream_goes_on_where_it_was_cut(host: User, one: FacadeThread) -> None:
    show = host.project()
    body = requests({"subscribe": {"name": "chat", "target": {"projectId": show.id}}})
    streams = one.services.events.streams
    with opened(host, body, "again") as results:
        assert "subscribed" in next(results)
    wait_for(lambda: not streams.open_sessions and not streams.closing_sessions, "the stream is closed")
    host.ok("POST", PUBLISH, {"name": "chat", "payload": {}, "target": {"projectId": show.id}})
    with opened(host, body, "again") as results:
        assert "subscribed" in next(results)
        assert next(results)["event"]["name"] == "chat"


def test_who_may_not_is_told_by_the_status(one: FacadeThread) -> None:
    for user, status in ((User(one, "x.y.z"), 16), (User(one, "-"), 16)):
        headers = {**user.headers, "content-type": WEB}
        reply = reply_of(one.http.post(url_of(SERVICE, METHOD), content=b"", headers=headers))
        assert reply.status == status


@pytest.mark.parametrize("body", [b"\0\0", frame(b"\xff\xff"), frame(b"", 0x40), b"\0\xff\xff\xff\xff"])
def test_what_is_no_message_ends_the_stream(host: User, body: bytes) -> None:
    with opened(host, requests({"ping": "a"}) + body) as results:
        *_, end = _until_end(results)
    assert "grpc-status: 3" in end["trailers"] or "grpc-status: 8" in end["trailers"]


def _until_end(results: Results) -> Iterator[dict[str, Any]]:
    for each in results:
        yield each
        if "trailers" in each:
            return


def test_connect_streams_json(host: User) -> None:
    body = frame(json.dumps({"ping": "a"}).encode())
    with opened(host, body, content_type="application/connect+json") as results:
        _, data = results._frame()
    assert json.loads(data)["pong"] == "a"


def test_a_stream_ends_when_its_token_is_revoked(host: User, resources: StoredResources) -> None:
    show = host.project()
    invited = host.ok(
        "POST",
        "/authentication/token/guest",
        {"collectionId": show.collection, "projectId": show.id, "direct": {"displayName": "Ben"}},
    )
    guest = User(host.facade, invited["accessToken"])
    with opened(guest, requests({"ping": "a"})) as results:
        assert "pong" in next(results)
        assert guest.call("PUT", "/authentication/token", {}).is_success
        said = list(_until_end(results))
    assert "reconnectBefore" in said[0]
    assert "grpc-status: 16" in said[-1]["trailers"]
