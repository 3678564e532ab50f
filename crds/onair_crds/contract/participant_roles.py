"""The role that a participant joined with, signed: in their metadata they can claim another.

Participants may change attributes too, and so lose theirs; they cannot make those of another role. Pure.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress

from onair_crds.resources.enums import Role

ATTRIBUTE = "onair.role"
"""Of a participant: the role's wire form, a dot, the signature."""


def signed_role(api_secret: str, room: str, identity: str, role: Role) -> dict[str, str]:
    """The attributes by which a participant's role is known."""
    return {ATTRIBUTE: f"{role.wire}.{_signature(api_secret, room, identity, role)}"}


def verified_role(api_secret: str, room: str, identity: str, attributes: Mapping[str, str]) -> Role | None:
    """The role that was signed for a participant; None if none was."""
    wire, _, signature = attributes.get(ATTRIBUTE, "").partition(".")
    with suppress(ValueError):
        role = Role.from_wire(wire)
        known = _signature(api_secret, room, identity, role) if role else ""
        if role and hmac.compare_digest(signature.encode(), known.encode()):
            return role
    return None


def _signature(api_secret: str, room: str, identity: str, role: Role) -> str:
    text = f"participant role\0{room}\0{role.wire}\0{identity}"
    return hmac.digest(api_secret.encode(), text.encode(), hashlib.sha256).hex()[:32]
