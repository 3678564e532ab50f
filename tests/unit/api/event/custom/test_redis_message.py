"""Custom events as they go through Redis."""

from __future__ import annotations

import pytest

from onair_api.access.target import Target
from onair_api.event.custom.redis_message import decode, encode
from onair_api.event.event import Event, Position


def test_an_event_survives_with_the_number_that_redis_puts_in_front() -> None:
    event = Event(
        name="poll:opened",
        body=b'{"payload":"with\\na line break"}',
        target=Target("c", "p"),
        source="",
        position=Position(0),
        audiences=(("owner", "s", "u"), ("project", "s", "p")),
        session_id="studio",
        origin="connection",
        correlation_id="c7",
    )
    epoch, found = decode(b"17 epoch-1\n" + encode(event), "channel")
    assert epoch == "epoch-1"
    event.source, event.position = "channel", Position(17)
    assert found == event


@pytest.mark.parametrize(
    "text", [b"", b"1 e\n{}", b"1 e\n{}\nbody", b"x e\n{}\nbody", b"1\n{}\nbody", b"1 e\n[]\nbody"]
)
def test_what_another_program_published_is_refused(text: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode(text, "channel")
