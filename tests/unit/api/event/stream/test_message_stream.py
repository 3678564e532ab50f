"""What counts as sent of a stream of messages."""

from __future__ import annotations

from contextlib import aclosing
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.recorded_stream import event_of

from onair_api.errors import Code, RpcError, Unauthenticated
from onair_api.event.event import Framing, dumps, result_message
from onair_api.event.stream.http_sender import HttpSender
from onair_api.event.stream.message_stream import MessageFraming, MessageStream
from onair_api.event.stream.session import final_message
from onair_api.settings import Settings
from onair_crds.shapes import JsonObject


def stream_of(framing: Framing) -> tuple[HttpSender, Any]:
    """A stream's sender, and what it sends."""
    settings, nothing = Settings(), cast(Any, SimpleNamespace())
    sender = HttpSender(framing, None, settings.events)
    sender.loss_message = lambda: b""
    return sender, cast(Any, MessageStream(nothing, sender, nothing, settings).results())


async def test_a_message_is_sent_once_the_next_is_asked_for() -> None:
    """Who closes a stream while a message is being sent comes back to that one, and not to those before."""
    framing = MessageFraming(dumps)
    sender, sent = stream_of(framing)
    for name in "abc":
        sender.push(framing.frame(result_message({"name": dumps(name)})), event_of(name))
    async with aclosing(sent) as results:
        assert [await anext(results) for _ in range(2)] == [b'{"name":"a"}', b'{"name":"b"}']
    assert [event.name for event in sender.withdraw().events] == ["b", "c"]


async def test_the_error_that_ends_a_stream_is_raised() -> None:
    framing = MessageFraming(dumps)
    sender, results = stream_of(framing)
    sender.push(final_message(Unauthenticated("the access token has expired"), framing))
    with pytest.raises(RpcError, match="the access token has expired") as raised:
        await anext(results)
    assert raised.value.code is Code.UNAUTHENTICATED


async def test_an_event_that_cannot_be_encoded_ends_the_streams_and_not_the_delivery() -> None:
    def fail(_: JsonObject) -> bytes:
        raise ValueError("secret")

    for framing, message in (
        (MessageFraming(fail), result_message({"event": b"{}"})),
        (MessageFraming(dumps), result_message({"event": b"{"})),
    ):
        sender, results = stream_of(framing)
        sender.push(framing.frame(message))
        with pytest.raises(RpcError, match="internal error") as raised:
            await anext(results)
        assert raised.value.code is Code.INTERNAL
