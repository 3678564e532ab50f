"""Who is in the audience of a target."""

from __future__ import annotations

import pytest

from onair_api.access.audiences import AudienceKey, GuestPlace, audiences_of, visibility_of
from onair_api.auth.identity import GuestControl, Identity
from onair_crds.resources.enums import Role

OWNER = ("s", "anna")
HOST = Identity("s", "anna", "anna", Role.HOST, ())
STRANGER = Identity("s", "bob", "bob", Role.HOST, ())


def guest(service: str = "s") -> Identity:
    return Identity(service, "guest", "ben", Role.GUEST, (), guest=GuestControl("c", "p", "p-uid"))


@pytest.mark.parametrize(
    ("audiences", "receivers"),
    [
        (audiences_of(OWNER, collection_uid="c-uid"), ["host", "guest of p", "guest of q"]),
        (audiences_of(OWNER, collection_uid="c-uid", project_uid="p-uid"), ["host", "guest of p"]),
        (audiences_of(OWNER, collection_uid="later", project_uid="later"), ["host"]),
        (audiences_of(OWNER), ["host"]),
    ],
)
def test_an_owner_receives_all_and_guests_what_is_of_their_very_project_or_above(
    audiences: tuple[AudienceKey, ...], receivers: list[str]
) -> None:
    p, q = GuestPlace("c-uid", "p-uid", OWNER), GuestPlace("c-uid", "q-uid", OWNER)
    sessions = {
        "host": visibility_of(HOST),
        "stranger": visibility_of(STRANGER),
        "guest of p": visibility_of(guest(), p),
        "guest of q": visibility_of(guest(), q),
        "guest of another service": visibility_of(guest("t"), p),
    }
    assert [name for name, each in sessions.items() if set(audiences) & set(each.keys)] == receivers


def test_the_role_decides_whether_layouts_are_seen() -> None:
    assert visibility_of(HOST).sees_layouts
    assert not visibility_of(guest(), GuestPlace("c-uid", "p-uid", OWNER)).sees_layouts
