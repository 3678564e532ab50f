"""What participants' metadata is to be: pages parse everybody's, and go by the roles in it. Pure."""

from __future__ import annotations

import json

from onair_crds.resources.enums import Role
from onair_crds.room_server.client import MAX_METADATA_CHARACTERS, ServerParticipant
from onair_crds.shapes import JsonObject

MOST_CHARACTERS = MAX_METADATA_CHARACTERS
"""What is longer, or would be, is replaced: everybody in the room is sent it."""


def repaired(participant: ServerParticipant, role: Role | None) -> str:
    """The participant's metadata, changed where it is no JSON object, has no name or another role.

    Args:
        role: None if it is not known.
    """
    if role is None and participant.changes_metadata:
        # Their attributes are gone, and nobody loses those by accident
        role = Role.GUEST if participant.publishes else Role.VIEWER
    given = _object(participant.metadata)
    wanted: JsonObject = {} if role is None else {"participantRole": role.wire}
    if not (given and isinstance(given.get("displayName"), str) and given["displayName"]):
        wanted["displayName"] = participant.name or participant.identity
    is_true = given is not None and all(given.get(name) == value for name, value in wanted.items())
    if is_true and len(participant.metadata) <= MOST_CHARACTERS:
        return participant.metadata
    # Escaped, as JSON may name halves of characters that UTF-8 has not
    text = json.dumps({**(given or {}), **wanted}, separators=(",", ":"))
    if len(text) <= MOST_CHARACTERS:
        return text
    return json.dumps({"displayName": participant.name or participant.identity, **wanted})


def _object(text: str) -> JsonObject | None:
    """None if a browser's JSON.parse does not give one."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON, but Python's")
