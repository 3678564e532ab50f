"""What counts as sent of a stream of messages."""

from __future__ import annotations

from contextlib import aclosing
from types import SimpleNamespace
from typing import Any, cast

from tests.support.recorded_stream import event_of

from onair_api.event.event import Format
from onair_api.event.stream.http_sender import HttpSender
from onair_api.event.stream.message_stream import MessageStream
from onair_api.settings import Settings


async def test_a_message_is_sent_once_the_next_is_asked_for() -> None:
    """Who closes a stream while a message is being sent comes back to that one, and not to those before."""
    settings, nothing = Settings(), cast(Any, SimpleNamespace())
    sender = HttpSender(Format.MESSAGES, None, settings.events)
    sender.loss_message = lambda: b""
    for name in "abc":
        sender.push(b'{"result":{"name":"%s"}}\n' % name.encode(), event_of(name))
    async with aclosing(cast(Any, MessageStream(nothing, sender, nothing, settings).results())) as results:
        assert [await anext(results) for _ in range(2)] == [{"name": "a"}, {"name": "b"}]
    assert [event.name for event in sender.withdraw().events] == ["b", "c"]
