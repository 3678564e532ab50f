"""The table of roles, against the same table written out by hand."""

from __future__ import annotations

import pytest
from tests.support.who_may import WHO_MAY

from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.roles import ISSUES, MAY, Operation, authorize, authorize_issue, may
from onair_api.errors import PermissionDenied
from onair_crds.resources.enums import Role

O = Operation  # noqa: E741
EVERYBODY = {O.REFRESH_ACCESS_TOKEN, O.GET_PROJECT, O.GET_PROJECT_BROADCAST_STATUS}
COLLECTION_WIDE = {
    O.GET_COLLECTIONS,
    O.CREATE_COLLECTION,
    O.GET_COLLECTION,
    O.UPDATE_COLLECTION,
    O.DELETE_COLLECTION,
    O.CREATE_PROJECT,
    O.GET_SOURCES,
    O.CREATE_SOURCE,
    O.GET_SOURCE,
    O.UPDATE_SOURCE,
    O.DELETE_SOURCE,
}
GUESTS = (Role.COHOST, Role.CONTRIBUTOR, Role.GUEST, Role.VIEWER, Role.RENDERER)


def identity(role: Role | None, *, guest: bool = False) -> Identity:
    return Identity("studio", "anna", "", role, (), GuestControl("c", "p") if guest else None)


def test_every_role_has_a_row() -> None:
    assert set(MAY) == set(Role)


def test_the_table_is_what_was_decided() -> None:
    assert WHO_MAY == MAY


def test_a_host_may_everything_and_the_platform_nothing() -> None:
    assert MAY[Role.HOST] == set(Operation)
    assert MAY[Role.PLATFORM] == set()


@pytest.mark.parametrize("role", GUESTS)
def test_every_guest_reads_its_project_and_sees_its_events(role: Role) -> None:
    assert MAY[role] >= EVERYBODY | {O.STREAM_EVENTS, O.CREATE_WEBRTC_ACCESS_TOKEN}


@pytest.mark.parametrize("role", GUESTS)
def test_no_guest_reaches_beyond_its_project_or_deletes_it(role: Role) -> None:
    assert not MAY[role] & (COLLECTION_WIDE | {O.DELETE_PROJECT})


def test_a_cohost_may_everything_else_in_its_project() -> None:
    assert MAY[Role.COHOST] == set(Operation) - COLLECTION_WIDE - {O.DELETE_PROJECT}


def test_who_publishes() -> None:
    publishers = {role for role in Role if O.PUBLISH_EVENT in MAY[role]}
    assert publishers == set(Role) - {Role.VIEWER, Role.PLATFORM}


def test_who_reads_and_who_changes_layouts() -> None:
    words = ("Layout", "Layer")
    layouts = {o for o in Operation if any(word in o for word in words)} | {O.BATCH}
    reads = {o for o in layouts if o.startswith(("Get", "List"))}
    assert MAY[Role.CONTRIBUTOR] & layouts == layouts
    assert MAY[Role.RENDERER] & layouts == reads
    for role in (Role.GUEST, Role.VIEWER):
        assert not MAY[role] & layouts


def test_an_impersonator_hands_nothing_on() -> None:
    missing = {o for o in Operation if "Guest" in o} | {O.CREATE_SOURCE}
    assert MAY[Role.IMPERSONATE] == set(Operation) - missing


@pytest.mark.parametrize("role", [*Role, None])
@pytest.mark.parametrize("operation", list(Operation))
def test_the_table_decides(role: Role | None, operation: Operation) -> None:
    allowed = role is not None and operation in MAY[role]
    assert may(identity(role), operation) == allowed
    if allowed:
        authorize(identity(role), operation)
    else:
        with pytest.raises(PermissionDenied):
            authorize(identity(role), operation)


@pytest.mark.parametrize("operation", list(Operation))
def test_a_guest_who_is_host_may_what_a_cohost_may(operation: Operation) -> None:
    assert may(identity(Role.HOST, guest=True), operation) == (operation in MAY[Role.COHOST])


@pytest.mark.parametrize("issuer", list(Role))
@pytest.mark.parametrize("role", list(Role))
def test_what_is_issued_is_within_what_is_held(issuer: Role, role: Role) -> None:
    if role in ISSUES.get(issuer, ()):
        authorize_issue(identity(issuer), role)
        assert O.CREATE_GUEST_ACCESS_TOKEN in MAY[issuer]
        assert MAY[role] <= MAY[issuer]
    else:
        with pytest.raises(PermissionDenied):
            authorize_issue(identity(issuer), role)
