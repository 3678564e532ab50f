"""Which roles an operation admits, and which roles are issued."""

from __future__ import annotations

import pytest
from tests.support.who_may import WHO_MAY

from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.roles import ISSUES, OWNERS, VIEWERS, authorize, authorize_issue, may
from onair_api.errors import PermissionDenied
from onair_crds.resources.enums import Role


def identity(role: Role | None, *, guest: bool = False) -> Identity:
    return Identity("studio", "anna", "", role, (), GuestControl("c", "p") if guest else None)


@pytest.mark.parametrize("role", [*Role, None])
def test_only_admitted_roles_are_authorized(role: Role | None) -> None:
    admitted = frozenset({Role.HOST, Role.VIEWER})
    assert may(identity(role), admitted) == (role in admitted)
    if role in admitted:
        authorize(identity(role), admitted, "GetProject")
    else:
        with pytest.raises(PermissionDenied, match="may not call GetProject"):
            authorize(identity(role), admitted, "GetProject")


def test_a_guest_who_is_host_may_what_a_cohost_may() -> None:
    host = identity(Role.HOST, guest=True)
    assert may(host, VIEWERS)
    assert not may(host, OWNERS)


@pytest.mark.parametrize("issuer", list(Role))
@pytest.mark.parametrize("role", list(Role))
def test_what_is_issued_is_within_what_is_held(issuer: Role, role: Role) -> None:
    if role in ISSUES.get(issuer, ()):
        authorize_issue(identity(issuer), role)
        assert "CreateGuestAccessToken" in WHO_MAY[issuer]
        assert WHO_MAY[role] <= WHO_MAY[issuer]
    else:
        with pytest.raises(PermissionDenied):
            authorize_issue(identity(issuer), role)
