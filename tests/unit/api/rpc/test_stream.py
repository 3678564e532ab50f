"""Events that many streams get in one form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from onair_api.access.audiences import Visibility, owner_key
from onair_api.access.target import Target
from onair_api.auth.callers import CallHeaders
from onair_api.auth.identity import Identity
from onair_api.event.event import Event, Position, dumps
from onair_api.event.operations import EVENTS
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.event.stream.sender import Sender
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.operation import StreamOperation
from onair_api.rpc import message_forms
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.json_form import fill
from onair_api.rpc.message_forms import BINARY, JSON, Form, Unparsed
from onair_api.rpc.stream import StreamMethod
from onair_api.settings import EventSettings, LimitSettings, Settings
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject

STREAMS = 30
HEADERS = CallHeaders("Bearer token", session_id="s")
OWNER = owner_key("s", "u")
RESPONSE = messages_of("apis.event.v2.EventService", "Stream").response
BODY: JsonObject = {
    "id": "1",
    "name": "chat",
    "payload": {"a": [[], {"b": None}, 1.5, "\u2028"], "n": 1},
    "target": {"projectId": "p"},
    "requestMetadata": None,
}


class SubscribedStreams:
    """Opens streams that subscribe to all events of a user."""

    def __init__(self) -> None:
        self.delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(EventSettings()))
        self.opened = asyncio.Event()
        self._count = 0

    async def open(self, _: object, session_id: str, sender: Sender) -> Session:
        identity = Identity("s", "u", "u", Role.HOST, ())
        visibility = Visibility("u", (OWNER,), sees_layouts=True)
        session = Session(session_id, identity, visibility, "token", sender)
        self.delivery.add(session, Subscription("*", Target(), Target()))
        self._count += 1
        if self._count == STREAMS:
            self.opened.set()
        return session

    async def close(self, session: Session) -> None:
        session.closed = True


async def nothing() -> AsyncIterator[Unparsed]:
    requests: list[Unparsed] = []
    for each in requests:
        yield each


@pytest.fixture
def streams() -> SubscribedStreams:
    return SubscribedStreams()


@pytest.fixture
def method(streams: Any) -> StreamMethod:
    async def admit(_: object) -> None: ...

    admission: Any = SimpleNamespace(admit=admit)
    incoming: Any = None
    (operation,) = (each for each in EVENTS if isinstance(each, StreamOperation))
    return StreamMethod(operation, MessageStreams(Settings(), admission, streams, incoming), LimitSettings())


async def received(
    method: StreamMethod, streams: SubscribedStreams, form: Form, *events: Event
) -> list[list[bytes]]:
    """What each of many streams is sent of events, by codec as the library asks for it."""
    responses = [method.messages(HEADERS, None, nothing(), form) for _ in range(STREAMS)]
    first = [asyncio.ensure_future(anext(each)) for each in responses]
    await streams.opened.wait()
    for event in events:
        streams.delivery.deliver(event)
    found = [[form.encode(await each)] for each in first]
    for messages, response in zip(found, responses, strict=True):
        messages += [form.encode(await anext(response)) for _ in events[1:]]
        await response.aclose()  # type: ignore[attr-defined]
    return found


def event_of(body: JsonObject, number: int = 1, **more: Any) -> Event:
    return Event("chat", dumps(body), Target("c", "p"), "custom", Position(number), (OWNER,), **more)


@pytest.mark.parametrize(("form", "filled"), [(BINARY, 2), (JSON, 0)])
async def test_an_event_is_converted_once_for_all_streams_of_a_form(
    method: StreamMethod,
    streams: SubscribedStreams,
    form: Form,
    filled: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conversions: list[JsonObject] = []

    def counted(message: Message, value: JsonObject) -> None:
        conversions.append(value)
        fill(message, value)

    monkeypatch.setattr(message_forms, "fill", counted)
    sent = await received(method, streams, form, event_of(BODY, 1), event_of({**BODY, "id": "2"}, 2))
    assert len(sent) == STREAMS
    assert all(each == sent[0] for each in sent)
    assert len(conversions) == filled


@pytest.mark.parametrize("form", [BINARY, JSON])
async def test_an_event_is_the_same_message_in_both_forms(
    method: StreamMethod, streams: SubscribedStreams, form: Form
) -> None:
    ((data,), *_) = await received(method, streams, form, event_of(BODY, session_id="caused"))
    message = RESPONSE()
    fill(message, {"sessionId": "caused", "event": BODY})
    parsed = RESPONSE.FromString(data) if form is BINARY else json_format.Parse(data, RESPONSE())
    assert parsed == message


async def test_what_a_message_has_no_field_for_is_in_neither_form(
    method: StreamMethod, streams: SubscribedStreams
) -> None:
    ((data,), *_) = await received(method, streams, JSON, event_of({**BODY, "newer": 1}))
    assert "newer" not in orjson.loads(data)["event"]
