"""Who was removed from a room is known again, and nobody else is taken for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onair_api.auth.identity import GuestControl, Identity
from onair_api.live.room.removals import fingerprint, is_own_join, lineage_mark, was_removed
from onair_crds.resources.enums import Role
from onair_crds.resources.room import BarredParticipant

GUEST = GuestControl("collection", "project", "uid")


def caller(role: Role, *lineage: str, guest: bool = True) -> Identity:
    return Identity(
        "service", "eve", "Eve", role, (), GUEST if guest else None, lineage=lineage, signing_key="key"
    )


def removed(identity: Identity) -> list[BarredParticipant]:
    """As it is written where somebody was removed who joined with this token."""
    token = fingerprint("the token that joined")
    return [BarredParticipant(identity="eve", user="eve", token=token, lineage=lineage_mark(identity))]


def is_refused(barred: list[BarredParticipant], identity: Identity, user: str = "eve") -> bool:
    return was_removed(barred, identity, user, fingerprint("another"))


@pytest.mark.parametrize("role", [Role.COHOST, Role.HOST])
def test_a_refresh_and_whoever_was_invited_with_it_are_refused(role: Role) -> None:
    barred = removed(caller(role, "host", "eve"))
    assert is_refused(barred, caller(role, "host", "eve"))
    assert is_refused(barred, caller(Role.GUEST, "host", "eve", "x1"), "x1")
    assert is_refused(barred, caller(Role.GUEST, "host", "eve", "x1", "x2"), "x2")


def test_whoever_invited_them_and_other_guests_of_the_same_host_are_not() -> None:
    barred = removed(caller(Role.COHOST, "host", "eve"))
    assert not is_refused(barred, caller(Role.HOST, "host", guest=False), "anna")
    assert not is_refused(barred, caller(Role.COHOST, "host", "ben"), "ben")


def test_of_the_owner_the_refresh_alone_is_refused() -> None:
    barred = removed(caller(Role.HOST, "host", guest=False))
    assert is_refused(barred, caller(Role.HOST, "host", guest=False))
    assert not is_refused(barred, caller(Role.HOST, "another login", guest=False))
    assert not is_refused(barred, caller(Role.GUEST, "host", "ben"), "ben")


def test_those_who_do_not_run_the_room_are_refused_as_users_too() -> None:
    barred = removed(caller(Role.GUEST, "host", "eve"))
    assert is_refused(barred, caller(Role.GUEST, "host", "another"))
    assert not is_refused(barred, caller(Role.COHOST, "host", "another"))


def test_what_an_earlier_version_wrote_refuses_by_token_and_user() -> None:
    barred = [BarredParticipant(identity="eve", user="eve", token=fingerprint("one"))]
    assert was_removed(barred, caller(Role.COHOST, "host", "eve"), "eve", fingerprint("one"))
    assert not is_refused(barred, caller(Role.COHOST, "host", "eve"))
    assert is_refused(barred, caller(Role.GUEST, "host", "eve"))


def test_of_a_page_no_lineage_is_kept() -> None:
    assert lineage_mark(caller(Role.RENDERER, "page")) is None


def test_a_join_of_ones_own_is_known() -> None:
    host, cohost = caller(Role.HOST, "host", guest=False), caller(Role.COHOST, "host", "eve")
    for each in (host, cohost):
        assert is_own_join(lineage_mark(each), each)
        assert not is_own_join(lineage_mark(each), replace(each, lineage=("another",)))
        assert not is_own_join(lineage_mark(each), None)
        assert not is_own_join(None, each)
    assert not is_own_join(lineage_mark(host), cohost)
