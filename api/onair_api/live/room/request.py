"""Decodes the request for a token of a room. Pure; every wrong field is named at once."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from onair_api.errors import InvalidArgument, Violation
from onair_crds.shapes import JsonObject

MAX_DISPLAY_NAME = 256
MAX_METADATA_BYTES = 16_384
"""Of a participant's metadata as JSON: it travels in a token, which travels in a url."""


@dataclass(frozen=True)
class AccessRequest:
    display_name: str
    metadata: JsonObject


def access_request(message: JsonObject) -> AccessRequest:
    """Decodes what a participant asks for.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong = []
    name = message.get("displayName", message.get("display_name"))
    if name is None or name == "":
        wrong.append(Violation("displayName", "is required"))
    elif not isinstance(name, str) or "\0" in name:
        wrong.append(Violation("displayName", "must be a string"))
    elif len(name) > MAX_DISPLAY_NAME:
        wrong.append(Violation("displayName", f"must be at most {MAX_DISPLAY_NAME} characters"))
    given = message.get("participantMetadata", message.get("participant_metadata"))
    metadata = _parsed(given) if isinstance(given, str) else {} if given is None else given
    if not isinstance(metadata, dict):
        wrong.append(Violation("participantMetadata", "must be an object"))
        metadata = {}
    elif _size(metadata) > MAX_METADATA_BYTES:
        wrong.append(Violation("participantMetadata", f"must be at most {MAX_METADATA_BYTES} bytes as JSON"))
    if wrong:
        raise InvalidArgument(*wrong)
    return AccessRequest(str(name), metadata)


def _parsed(metadata: str) -> JsonObject | None:
    """An object that a client has encoded already, as the room server wants it."""
    try:
        value = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _size(metadata: JsonObject) -> int:
    try:
        return len(orjson.dumps(metadata))
    except orjson.JSONEncodeError:  # integers of more than 64 bits
        return MAX_METADATA_BYTES + 1
