"""Encodes custom events for Redis: the number that it gives, what delivery needs, the event."""

from __future__ import annotations

import orjson

from onair_api.access.target import Target
from onair_api.event.event import CUSTOM_FAMILY, Event, Position


def encode(event: Event) -> bytes:
    """Encodes an event without its number, which the script that publishes it puts in front."""
    head = {
        "name": event.name,
        "target": [event.target.collection_id, event.target.project_id, event.target.layout_id],
        "audiences": event.audiences,
        "sessionId": event.session_id,
        "origin": event.origin,
        "correlationId": event.correlation_id,
    }
    return orjson.dumps(head) + b"\n" + event.body


def decode(text: bytes, channel: str) -> tuple[str, Event]:
    """The epoch of its number, and the event.

    Raises:
        ValueError, KeyError, TypeError: it was not encoded by `encode`.
    """
    numbered, head_json, body = text.split(b"\n", 2)
    number, epoch = numbered.decode().split(" ", 1)
    head = orjson.loads(head_json)
    return epoch, Event(
        name=head["name"],
        body=body,
        target=Target(*head["target"]),
        source=channel,
        position=Position(int(number)),
        audiences=tuple(tuple(key) for key in head["audiences"]),
        family=CUSTOM_FAMILY,
        session_id=head["sessionId"],
        origin=head["origin"],
        correlation_id=head["correlationId"],
    )


def number_of(text: bytes) -> int:
    """The number of a message; 0 if it was not encoded by `encode`."""
    number = text.partition(b" ")[0]
    return int(number) if number.isdigit() else 0
