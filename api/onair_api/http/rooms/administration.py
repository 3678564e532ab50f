"""What is asked of a room by plain HTTP: why a join is refused, and the administration of participants.

Administration is livekit-server's own interface (Twirp, JSON), for room admins, in their own room. Whoever is
removed is barred first, so that they do not come back through another replica.
"""

from __future__ import annotations

import asyncio

import aiohttp
import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from onair_api.errors import Code, InvalidArgument, PermissionDenied, RpcError, Unavailable, Violation
from onair_api.http.endpoint import read_object
from onair_api.http.rooms.room_token import header_token, room_token
from onair_api.kubernetes_errors import rpc_error
from onair_api.live.room.room_admission import Admitted, RoomAdmission
from onair_api.live.room.service import RETRY_S
from onair_api.settings import LimitSettings
from onair_crds.kube.errors import ApiError
from onair_crds.resources.room import MAX_IDENTITY
from onair_crds.room_server.client import SERVICE
from onair_crds.shapes import JsonObject

METHODS = frozenset(
    {
        "GetParticipant",
        "ListParticipants",
        "MutePublishedTrack",
        "RemoveParticipant",
        "SendData",
        "UpdateParticipant",
        "UpdateSubscriptions",
    }
)
"""Of RoomService: what concerns participants. Only this service opens and closes rooms."""
TIMEOUT_S = 10.0
NO_STORE = {"Cache-Control": "no-store"}


class RoomValidation:
    """GET `/webrtc/v2/rtc/validate`: whether a token admits, in plain text as LiveKit's clients read it."""

    def __init__(self, admission: RoomAdmission) -> None:
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._admission.open(await self._admission.admit(room_token(scope)))
        except RpcError as error:
            response = _refusal(error)
        except ApiError as error:
            response = _refusal(rpc_error(error))
        else:
            response = PlainTextResponse("success", headers=NO_STORE)
        await response(scope, receive, send)


class RoomAdministration:
    """POST `/webrtc/v2/twirp/livekit.RoomService/<method>`."""

    def __init__(self, admission: RoomAdmission, limits: LimitSettings) -> None:
        self._admission = admission
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._respond(scope, receive)
        except ClientDisconnect:
            return
        except ApiError as error:
            response = _twirp_error(rpc_error(error))
        except RpcError as error:
            response = _twirp_error(error)
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        token = header_token(scope)
        admin = await self._admission.admit(token)
        if not admin.is_admin:
            raise PermissionDenied("only hosts and co-hosts of the room may do this")
        method = str(scope["path_params"]["method"])
        if method not in METHODS:
            raise PermissionDenied(f"{method} may not be called by clients")
        message = await read_object(Request(scope, receive), self._limits)
        if message.get("room") != admin.room:
            raise PermissionDenied("the token is for another room")
        if method == "RemoveParticipant":
            await self._bar(admin, message)
        return await self._pass_on(method, token, message)

    async def _bar(self, admin: Admitted, message: JsonObject) -> None:
        identity = message.get("identity")
        if not isinstance(identity, str) or not 0 < len(identity) <= MAX_IDENTITY:
            raise InvalidArgument(Violation("identity", "must be the identity of a participant"))
        await self._admission.bar(admin, identity)

    async def _pass_on(self, method: str, token: str, message: JsonObject) -> Response:
        server = self._admission.server
        if server is None:
            raise Unavailable("there is no room server")
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                server.session().post(
                    server.url + SERVICE + method, data=orjson.dumps(message), headers=headers
                ) as response,
            ):
                body = await response.read()
                return Response(body, response.status, NO_STORE, "application/json")
        except (TimeoutError, aiohttp.ClientError) as error:
            raise Unavailable("the room server does not respond", retry_after_s=RETRY_S) from error


def _refusal(error: RpcError) -> PlainTextResponse:
    return PlainTextResponse(error.message, error.code.http_status, {**error.headers, **NO_STORE})


def _twirp_error(error: RpcError) -> Response:
    """An error in the form of Twirp, whose codes are those of RPC in lower case."""
    code = "malformed" if error.code is Code.INVALID_ARGUMENT else error.code.name.lower()
    body = orjson.dumps({"code": code, "msg": error.message})
    return Response(
        body, error.code.http_status, {**error.headers, **NO_STORE}, media_type="application/json"
    )
