"""What counts as sent over HTTP."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.recorded_stream import event_of

from onair_api.event.event import Format
from onair_api.event.stream.http_sender import HttpSender
from onair_api.settings import EventSettings


@pytest.fixture
def connection() -> SimpleNamespace:
    return SimpleNamespace(lost=False)


@pytest.fixture
def sender(connection: SimpleNamespace) -> HttpSender:
    transport = SimpleNamespace(is_closing=lambda: connection.lost)
    made = HttpSender(Format.NDJSON, cast(asyncio.Transport, transport), EventSettings())
    made.loss_message = lambda: b"LOST"
    for name in "ab":
        made.push(name.encode(), event_of(name))
    return made


def names_of(sender: HttpSender) -> list[str]:
    return [event.name for event in sender.withdraw().events]


async def test_what_was_taken_is_sent_once_more_is_asked_for(sender: HttpSender) -> None:
    assert await sender.chunk(10, max_bytes=1) == b"a"
    assert await sender.chunk(10, max_bytes=1) == b"b"
    assert names_of(sender) == ["b"]


async def test_a_lost_connection_is_written_nothing_and_what_it_was_last_is_not_sent(
    connection: SimpleNamespace, sender: HttpSender
) -> None:
    assert await sender.chunk(10, max_bytes=1) == b"a"
    connection.lost = True
    assert await sender.chunk(10) == b""
    assert names_of(sender) == ["a", "b"]


async def test_one_that_is_lost_while_it_waits_is_written_nothing(
    connection: SimpleNamespace, sender: HttpSender
) -> None:
    assert await sender.chunk(10)
    asking: asyncio.Task[Any] = asyncio.create_task(sender.chunk(10))
    await asyncio.sleep(0)
    connection.lost = True
    sender.push(b"c", event_of("c"))
    assert await asking == b""
    assert names_of(sender) == ["c"]


async def test_what_was_withdrawn_is_not_written_and_replies_are(sender: HttpSender) -> None:
    sender.push(b"reply")
    assert names_of(sender) == ["a", "b"]
    assert await sender.chunk(10) == b"reply"
