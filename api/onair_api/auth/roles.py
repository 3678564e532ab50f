"""Which role may call which operation: one table, read by every request."""

from __future__ import annotations

from enum import StrEnum

from onair_api.auth.identity import Identity
from onair_api.errors import PermissionDenied
from onair_crds.enums import Role


class Operation(StrEnum):
    """Operations that need an access token, by their RPC names."""

    GET_COLLECTIONS = "GetCollections"
    CREATE_COLLECTION = "CreateCollection"
    GET_COLLECTION = "GetCollection"
    UPDATE_COLLECTION = "UpdateCollection"
    DELETE_COLLECTION = "DeleteCollection"
    CREATE_PROJECT = "CreateProject"
    GET_PROJECT = "GetProject"
    UPDATE_PROJECT = "UpdateProject"
    DELETE_PROJECT = "DeleteProject"
    START_PROJECT_BROADCAST = "StartProjectBroadcast"
    STOP_PROJECT_BROADCAST = "StopProjectBroadcast"
    GET_PROJECT_BROADCAST_STATUS = "GetProjectBroadcastStatus"
    CREATE_DESTINATION = "CreateDestination"
    GET_DESTINATION = "GetDestination"
    UPDATE_DESTINATION = "UpdateDestination"
    DELETE_DESTINATION = "DeleteDestination"
    LIST_LAYOUTS = "ListLayouts"
    CREATE_LAYOUT = "CreateLayout"
    GET_LAYOUT = "GetLayout"
    UPDATE_LAYOUT = "UpdateLayout"
    DELETE_LAYOUT = "DeleteLayout"
    LIST_LAYERS = "ListLayers"
    CREATE_LAYER = "CreateLayer"
    BATCH = "Batch"
    GET_LAYER = "GetLayer"
    UPDATE_LAYER = "UpdateLayer"
    DELETE_LAYER = "DeleteLayer"
    REFRESH_ACCESS_TOKEN = "RefreshAccessToken"  # noqa: S105 - the name of an operation


MAY: dict[Role, frozenset[Operation]] = {
    Role.HOST: frozenset(Operation),
    Role.COHOST: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
    Role.CONTRIBUTOR: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
    Role.GUEST: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
    Role.VIEWER: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
    Role.RENDERER: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
    Role.PLATFORM: frozenset(),
    Role.IMPERSONATE: frozenset({Operation.REFRESH_ACCESS_TOKEN}),
}
"""Roles below HOST act within one project, which their tokens cannot name yet: they may do nothing there."""


def authorize(identity: Identity, operation: Operation) -> None:
    """
    Raises:
        PermissionDenied: the caller's role does not include the operation.
    """
    if identity.role is None or operation not in MAY[identity.role]:
        role = identity.role.wire if identity.role else Role.unspecified()
        raise PermissionDenied(f"{role} may not call {operation}")
