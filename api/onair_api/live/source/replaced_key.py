"""Whether an update has a source's stream key replaced: its mask names the key, which is assigned. Pure."""

from __future__ import annotations

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.mask import MAX_DEPTH, names_of
from onair_api.wire.message import spelling
from onair_crds.shapes import JsonObject

ASSIGNED = {"rtmpPush": "key", "srtPush": "streamId"}
"""By the member of an address: the field that is assigned from the stream key."""
MASK_NAMES = ("updateMask", "update_mask")


def without_key(message: JsonObject) -> tuple[JsonObject, str | None]:
    """The rest of an update, and the member of the address whose key its mask names.

    Raises:
        InvalidArgument: it has a value for the key: nobody chooses keys; or its mask names too much.
    """
    mask = next((message[name] for name in MASK_NAMES if name in message), None)
    if not isinstance(mask, str):
        return message, None
    named = {name: _member(name) for name in names_of(mask)}
    members = [member for member in named.values() if member]
    if not members:
        return message, None
    if len(set(members)) > 1:
        raise InvalidArgument(Violation("updateMask", "must name the key of one kind of address"))
    (member,) = set(members)
    field = ASSIGNED[member]
    address = message.get("address")
    given = address.get(member) if isinstance(address, dict) else None
    if isinstance(given, dict) and given.get(field) is not None:
        path = f"address.{member}.{field}"
        raise InvalidArgument(Violation(path, "is assigned: leave it out to get a new one"))
    rest = {name: value for name, value in message.items() if name not in MASK_NAMES}
    kept = [name for name, found in named.items() if not found]
    # Without a mask everything in the body would be applied.
    return ({**rest, "updateMask": ",".join(kept)} if kept else {}), member


def _member(name: str) -> str | None:
    path = [spelling(part.strip()) for part in name.split(".", MAX_DEPTH)]
    for member, field in ASSIGNED.items():
        if path == [spelling(part) for part in ("address", member, field)]:
            return member
    return None
