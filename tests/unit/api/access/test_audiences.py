"""Who is in the audience of a target."""

from __future__ import annotations

import pytest

from onair_api.access.audiences import audiences_of, visibility_of
from onair_api.access.target import Target
from onair_api.auth.identity import GuestControl, Identity
from onair_crds.resources.enums import Role

OWNER = ("s", "anna")
HOST = Identity("s", "anna", "anna", Role.HOST, ())
STRANGER = Identity("s", "bob", "bob", Role.HOST, ())


def guest(project: str, collection: str = "c", service: str = "s") -> Identity:
    return Identity(service, "guest", "ben", Role.GUEST, (), guest=GuestControl(collection, project))


@pytest.mark.parametrize(
    ("target", "receivers"),
    [
        (Target("c"), ["host", "guest of p", "guest of q"]),
        (Target("c", "p"), ["host", "guest of p"]),
        (Target("c", "p", "l"), ["host", "guest of p"]),
        (Target("d"), ["host"]),
    ],
)
def test_an_owner_receives_all_and_guests_what_is_of_their_project_or_above(
    target: Target, receivers: list[str]
) -> None:
    sessions = {
        "host": HOST,
        "stranger": STRANGER,
        "guest of p": guest("p"),
        "guest of q": guest("q"),
        "guest of another service": guest("p", service="t"),
    }
    keys = set(audiences_of(target, OWNER))
    found = [name for name, identity in sessions.items() if keys & set(visibility_of(identity).keys)]
    assert found == receivers


def test_without_an_owner_nobody_receives_anything() -> None:
    assert audiences_of(Target("c", "p"), None) == ()


def test_the_role_decides_whether_layouts_are_seen() -> None:
    assert visibility_of(HOST).sees_layouts
    assert not visibility_of(guest("p")).sees_layouts
