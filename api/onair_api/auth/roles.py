"""Which role may call which operation: one table, read by every request."""

from __future__ import annotations

from enum import StrEnum

from onair_api.auth.identity import Identity
from onair_api.errors import PermissionDenied
from onair_crds.resources.enums import Role


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
    GET_PROJECT_BROADCAST_SNAPSHOT = "GetProjectBroadcastSnapshot"
    START_PROJECT_WEBRTC = "StartProjectWebRtc"
    STOP_PROJECT_WEBRTC = "StopProjectWebRtc"
    CREATE_WEBRTC_ACCESS_TOKEN = "CreateWebRtcAccessToken"  # noqa: S105 - the name of an operation
    CREATE_DESTINATION = "CreateDestination"
    GET_DESTINATION = "GetDestination"
    UPDATE_DESTINATION = "UpdateDestination"
    DELETE_DESTINATION = "DeleteDestination"
    GET_SOURCES = "GetSources"
    CREATE_SOURCE = "CreateSource"
    GET_SOURCE = "GetSource"
    UPDATE_SOURCE = "UpdateSource"
    DELETE_SOURCE = "DeleteSource"
    ADD_SOURCE_TO_PROJECT = "AddSourceToProject"
    UPDATE_SOURCE_IN_PROJECT = "UpdateSourceInProject"
    REMOVE_SOURCE_FROM_PROJECT = "RemoveSourceFromProject"
    REFRESH_ACCESS_TOKEN = "RefreshAccessToken"  # noqa: S105 - the name of an operation
    CREATE_GUEST_ACCESS_TOKEN = "CreateGuestAccessToken"  # noqa: S105 - the name of an operation
    CREATE_GUEST_CODE = "CreateGuestCode"
    GET_GUEST_CODE = "GetGuestCode"
    DELETE_GUEST_CODE = "DeleteGuestCode"
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
    PUBLISH_EVENT = "PublishEvent"
    STREAM_EVENTS = "StreamEvents"


O = Operation  # noqa: E741 - a table reads better without the word in every cell

_VIEWER = frozenset(
    {
        O.REFRESH_ACCESS_TOKEN,
        O.GET_PROJECT,
        O.GET_PROJECT_BROADCAST_STATUS,
        O.STREAM_EVENTS,
        O.CREATE_WEBRTC_ACCESS_TOKEN,
    }
)
_GUEST = _VIEWER | {O.PUBLISH_EVENT}
_READ_LAYOUTS = {O.LIST_LAYOUTS, O.GET_LAYOUT, O.LIST_LAYERS, O.GET_LAYER}
_RENDERER = _GUEST | _READ_LAYOUTS
_CONTRIBUTOR = (
    _GUEST
    | _READ_LAYOUTS
    | {
        O.UPDATE_PROJECT,
        O.GET_DESTINATION,
        O.GET_PROJECT_BROADCAST_SNAPSHOT,
        O.CREATE_LAYOUT,
        O.UPDATE_LAYOUT,
        O.DELETE_LAYOUT,
        O.CREATE_LAYER,
        O.BATCH,
        O.UPDATE_LAYER,
        O.DELETE_LAYER,
        O.CREATE_GUEST_ACCESS_TOKEN,
    }
)
_COHOST = _CONTRIBUTOR | {
    O.START_PROJECT_BROADCAST,
    O.STOP_PROJECT_BROADCAST,
    O.START_PROJECT_WEBRTC,
    O.STOP_PROJECT_WEBRTC,
    O.CREATE_DESTINATION,
    O.UPDATE_DESTINATION,
    O.DELETE_DESTINATION,
    O.ADD_SOURCE_TO_PROJECT,
    O.UPDATE_SOURCE_IN_PROJECT,
    O.REMOVE_SOURCE_FROM_PROJECT,
    O.CREATE_GUEST_CODE,
    O.GET_GUEST_CODE,
    O.DELETE_GUEST_CODE,
}
_ISSUING = {O.CREATE_GUEST_ACCESS_TOKEN, O.CREATE_GUEST_CODE, O.GET_GUEST_CODE, O.DELETE_GUEST_CODE}

MAY: dict[Role, frozenset[Operation]] = {
    Role.HOST: frozenset(Operation),
    Role.COHOST: _COHOST,
    Role.CONTRIBUTOR: _CONTRIBUTOR,
    Role.GUEST: _GUEST,
    Role.VIEWER: _VIEWER,
    Role.RENDERER: _RENDERER,
    Role.PLATFORM: frozenset(),
    Role.IMPERSONATE: frozenset(Operation) - _ISSUING - {O.CREATE_SOURCE},
}
"""`operations.md`, "Tokens". IMPERSONATE acts on what another user owns, sees no secrets of it and hands
nothing on; PLATFORM is internal to the service and has no operation over HTTP."""

ISSUES: dict[Role, frozenset[Role]] = {
    Role.HOST: frozenset(Role) - {Role.PLATFORM, Role.IMPERSONATE},
    Role.COHOST: frozenset(Role) - {Role.PLATFORM, Role.IMPERSONATE, Role.HOST},
    Role.CONTRIBUTOR: frozenset({Role.CONTRIBUTOR, Role.GUEST, Role.VIEWER}),
}
"""Which roles a caller may give to a guest. A renderer joins rooms unseen: no contributor may."""


def may(identity: Identity, operation: Operation) -> bool:
    """A guest reaches one project whatever its role, so a guest who is a HOST there may what a COHOST may."""
    if identity.role is None:
        return False
    allowed = operation in MAY[identity.role]
    return allowed and (identity.guest is None or operation in MAY[Role.COHOST])


def authorize(identity: Identity, operation: Operation) -> None:
    """
    Raises:
        PermissionDenied: the caller's role does not include the operation.
    """
    if not may(identity, operation):
        role = identity.role.wire if identity.role else Role.unspecified()
        raise PermissionDenied(f"{role} may not call {operation}")


def authorize_issue(identity: Identity, role: Role) -> None:
    """
    Raises:
        PermissionDenied: the caller's role does not include issuing tokens of `role`.
    """
    if identity.role is None or role not in ISSUES.get(identity.role, frozenset()):
        own = identity.role.wire if identity.role else Role.unspecified()
        raise PermissionDenied(f"{own} may not issue tokens of {role.wire}")
