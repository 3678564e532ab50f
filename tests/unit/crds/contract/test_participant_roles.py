"""Signed roles of participants: for one participant of one room."""

from __future__ import annotations

import pytest

from onair_crds.contract.participant_roles import ATTRIBUTE, signed_role, verified_role
from onair_crds.resources.enums import Role

SECRET = "s" * 32
SIGNED = signed_role(SECRET, "room", "ben", Role.GUEST)


def test_a_role_is_known_by_its_signature() -> None:
    assert verified_role(SECRET, "room", "ben", {"a": "b", **SIGNED}) is Role.GUEST


@pytest.mark.parametrize(
    ("secret", "room", "identity"),
    [("t" * 32, "room", "ben"), (SECRET, "another", "ben"), (SECRET, "room", "anna")],
)
def test_it_is_nobody_elses(secret: str, room: str, identity: str) -> None:
    assert verified_role(secret, room, identity, SIGNED) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ROLE_HOST",
        "ROLE_HOST.",
        "nonsense.x",
        "ROLE_HOST.\u00e9",
        "ROLE_UNSPECIFIED.",
        SIGNED[ATTRIBUTE].replace("GUEST", "HOST"),
    ],
)
def test_nobody_makes_another(text: str) -> None:
    assert verified_role(SECRET, "room", "ben", {ATTRIBUTE: text}) is None
    assert verified_role(SECRET, "room", "ben", {}) is None
