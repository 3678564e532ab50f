"""Decodes what a client publishes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onair_api.access.target import Target
from onair_api.errors import InvalidArgument, Violation
from onair_api.event.event import LAYOUT_FAMILY, LIVE_FAMILY, ROOM_FAMILY, dumps
from onair_api.event.names import MAX_NAME
from onair_api.event.request_fields import decode_name, decode_target
from onair_api.settings import EventSettings, LimitSettings
from onair_api.writes.request_note import request_metadata
from onair_crds.shapes import JsonObject

OWN_FAMILIES = (LIVE_FAMILY, LAYOUT_FAMILY, ROOM_FAMILY)
"""Of events that the service itself publishes."""


@dataclass(frozen=True)
class Publication:
    name: str
    payload: JsonObject
    metadata: JsonObject | None
    target: Target


def decode_publication(
    value: Any, settings: EventSettings, limits: LimitSettings, path: str = ""
) -> Publication:
    """Decodes an event that a client publishes.

    Args:
        path: of the event in the request, with a dot behind it; empty for a body.

    Raises:
        InvalidArgument: names every wrong field.
    """
    if not isinstance(value, dict):
        raise InvalidArgument(Violation(path.rstrip("."), "must be an object"))
    violations: list[Violation] = []
    name = decode_name(value, f"{path}name", MAX_NAME, violations)
    reserved = tuple(f"{settings.prefix}:{family}:EVENT_TYPE_" for family in OWN_FAMILIES)
    if name.startswith(reserved):
        violations.append(
            Violation(f"{path}name", "must not be the name of an event of a resource or a room")
        )
    target = decode_target(value, f"{path}target", violations)
    payload = value.get("payload")
    if payload is None:
        violations.append(Violation(f"{path}payload", "is required"))
    elif not isinstance(payload, dict):
        violations.append(Violation(f"{path}payload", "must be an object"))
    elif len(dumps(payload)) > settings.payload_bytes:
        violations.append(
            Violation(f"{path}payload", f"must be at most {settings.payload_bytes} bytes as JSON")
        )
    metadata = None
    try:
        metadata = request_metadata(value, limits.request_metadata_bytes)
    except InvalidArgument as error:
        violations += [Violation(path + each.field, each.description) for each in error.violations]
    if violations:
        raise InvalidArgument(*violations)
    return Publication(name, payload or {}, metadata, target)
