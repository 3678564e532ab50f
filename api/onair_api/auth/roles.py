"""Sets of roles that operations admit, and the roles that each role may give to guests.

An operation names one of these sets in its row (`operations.py` has all rows). The sets are those of
`operations.md`, "Tokens": IMPERSONATE acts on what another user owns, sees no secrets of it and hands
nothing on; PLATFORM is internal to the service and has no operation over HTTP.
"""

from __future__ import annotations

from onair_api.auth.identity import Identity
from onair_api.errors import PermissionDenied
from onair_crds.resources.enums import Role

Roles = frozenset[Role]

IMPERSONATORS: Roles = frozenset({Role.IMPERSONATE})
OWNERS: Roles = frozenset({Role.HOST}) | IMPERSONATORS
"""Those who act on whole collections."""
COHOSTS: Roles = OWNERS | {Role.COHOST}
"""Those who run a show: broadcasts, destinations, sources of the project."""
CONTRIBUTORS: Roles = COHOSTS | {Role.CONTRIBUTOR}
"""Those who change a project and its layouts."""
RENDERERS: Roles = CONTRIBUTORS | {Role.RENDERER}
"""Those who read layouts."""
GUESTS: Roles = RENDERERS | {Role.GUEST}
"""Those who publish events."""
VIEWERS: Roles = GUESTS | {Role.VIEWER}
"""Everybody with a role."""

ISSUES: dict[Role, Roles] = {
    Role.HOST: frozenset(Role) - {Role.PLATFORM, Role.IMPERSONATE},
    Role.COHOST: frozenset(Role) - {Role.PLATFORM, Role.IMPERSONATE, Role.HOST},
    Role.CONTRIBUTOR: frozenset({Role.CONTRIBUTOR, Role.GUEST, Role.VIEWER}),
}
"""Which roles a caller may give to a guest. A renderer joins rooms unseen: no contributor may."""


def may(identity: Identity, roles: Roles) -> bool:
    """Whether a caller has one of the roles.

    A guest's token reaches one project whatever its role, so a guest who is a HOST there may call what a
    COHOST may.
    """
    return identity.role in roles and (identity.guest is None or Role.COHOST in roles)


def authorize(identity: Identity, roles: Roles, operation: str) -> None:
    """Checks that a caller may call an operation.

    Raises:
        PermissionDenied: the caller's role is none of those that the operation admits.
    """
    if not may(identity, roles):
        role = identity.role.wire if identity.role else Role.unspecified()
        raise PermissionDenied(f"{role} may not call {operation}")


def authorize_issue(identity: Identity, role: Role) -> None:
    """Checks that a caller may issue tokens of a role.

    Raises:
        PermissionDenied: the caller's role does not include issuing tokens of `role`.
    """
    if identity.role is None or role not in ISSUES.get(identity.role, frozenset()):
        own = identity.role.wire if identity.role else Role.unspecified()
        raise PermissionDenied(f"{own} may not issue tokens of {role.wire}")
