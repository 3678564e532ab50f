"""Signalling of rooms: passes a participant's WebSocket on to the room server once it is admitted.

No token is logged: it is in the query.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any
from urllib.parse import unquote_plus

import aiohttp
import structlog
from starlette.types import Receive, Scope, Send
from yarl import URL

from onair_api.errors import Internal, RpcError, Unavailable
from onair_api.http.rooms.room_token import room_token
from onair_api.kubernetes_errors import rpc_error
from onair_api.live.room.room_admission import Admitted, RoomAdmission
from onair_api.live.room.service import RETRY_S
from onair_api.unexpected_errors import log_unexpected
from onair_crds.contract.rooms import SIGNAL_PATH
from onair_crds.kube.errors import ApiError
from onair_crds.runtime.until_one_ends import until_one_ends

log = structlog.get_logger()

CONNECT_TIMEOUT_S = 5.0
HEARTBEAT_S = 10.0
"""A room server that does not answer a ping within half of this is given up."""
MAX_MESSAGE_BYTES = 2 * 1024 * 1024
POLICY_VIOLATION, INTERNAL = 1008, 1011


class RoomSignalling:
    """An ASGI application for the WebSockets at `/webrtc/v2/rtc` and `/webrtc/v2/rtc/v1`."""

    def __init__(self, admission: RoomAdmission) -> None:
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One participant's connection. No error reaches the server, which would log its text."""
        try:
            await receive()
            joined = await self._join(scope, send)
            if joined:
                await self._serve(*joined, receive, send)
        except OSError:  # the client went while it was written to
            return
        except Exception as error:  # noqa: BLE001 - the outermost frame of this connection
            log_unexpected("signalling.failed", error)
            with contextlib.suppress(Exception):
                await send({"type": "websocket.close", "code": INTERNAL, "reason": ""})

    async def _join(
        self, scope: Scope, send: Send
    ) -> tuple[Admitted, aiohttp.ClientWebSocketResponse] | None:
        """Who joins, and their connection to the room server; None where the upgrade was declined."""
        try:
            return await self._connect(scope, room_token(scope))
        except ApiError as error:
            refusal = rpc_error(error)
        except RpcError as error:
            refusal = error
        except Exception as error:  # noqa: BLE001 - an encoder goes another way where it is told of a fault
            log_unexpected("signalling.failed", error)
            refusal = Internal("internal error; it was logged")
        await _refuse(refusal, send)
        return None

    async def _serve(
        self,
        admitted: Admitted,
        server: aiohttp.ClientWebSocketResponse,
        receive: Receive,
        send: Send,
    ) -> None:
        async with server:
            await send({"type": "websocket.accept"})
            await _pass_on(server, receive, send, self._admission.until_ended(admitted))

    async def _connect(self, scope: Scope, token: str) -> tuple[Admitted, aiohttp.ClientWebSocketResponse]:
        """
        Raises:
            RpcError: the token does not admit, or the room server does not take it.
        """
        admitted = await self._admission.admit(token)
        await self._admission.open(admitted)
        room_server = self._admission.server
        if room_server is None:
            raise Unavailable("there is no room server")
        path = scope["path"].removeprefix(SIGNAL_PATH)
        url = URL(f"{room_server.url}{path}?{_passed_on(scope['query_string'])}", encoded=True)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                connected = await room_server.session().ws_connect(
                    url,
                    headers={"Authorization": f"Bearer {token}"},
                    heartbeat=HEARTBEAT_S,
                    max_msg_size=MAX_MESSAGE_BYTES,
                )
                return admitted, connected
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            status = error.status if isinstance(error, aiohttp.WSServerHandshakeError) else None
            log.warning(
                "signalling.not_connected", room=admitted.room, error=type(error).__name__, status=status
            )
            raise Unavailable("the room server refuses the connection", retry_after_s=RETRY_S) from None


def _passed_on(query: bytes) -> str:
    """The query without what would have the room server take somebody by another identity than their token's.

    Whoever is removed, or loses the token, is removed by the identity that it names.
    """
    fields = query.decode("latin-1").split("&")
    return "&".join(each for each in fields if unquote_plus(each.partition("=")[0]) != "publish")


async def _refuse(error: RpcError, send: Send) -> None:
    """Declines the upgrade with the error's status; browsers are not told it, and ask `validate`."""
    log.info("signalling.refused", code=error.code.name)
    headers = [(b"content-length", b"0")]
    await send(
        {"type": "websocket.http.response.start", "status": error.code.http_status, "headers": headers}
    )
    await send({"type": "websocket.http.response.body", "body": b""})


async def _pass_on(
    server: aiohttp.ClientWebSocketResponse, receive: Receive, send: Send, ended: Coroutine[Any, Any, None]
) -> None:
    """Passes messages on in both directions until one side ends, or the right to be there."""
    _, to_client, no_more = await until_one_ends(_to_server(server, receive), _to_client(server, send), ended)
    if not to_client.cancelled() or not no_more.cancelled():
        code = POLICY_VIOLATION if not no_more.cancelled() else server.close_code or INTERNAL
        with contextlib.suppress(RuntimeError, OSError):
            await send({"type": "websocket.close", "code": _allowed(code), "reason": ""})


async def _to_server(server: aiohttp.ClientWebSocketResponse, receive: Receive) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        text, data = message.get("text"), message.get("bytes")
        if text is not None:
            await server.send_str(text)
        elif data is not None:
            await server.send_bytes(data)


async def _to_client(server: aiohttp.ClientWebSocketResponse, send: Send) -> None:
    async for message in server:
        if message.type is aiohttp.WSMsgType.BINARY:
            await send({"type": "websocket.send", "bytes": message.data})
        elif message.type is aiohttp.WSMsgType.TEXT:
            await send({"type": "websocket.send", "text": message.data})
        else:
            return


def _allowed(code: int) -> int:
    """A close code that may be sent: some only say what did not come."""
    return code if code in (1000, 1001, 1002, 1003, 1008, 1011) or 3000 <= code < 5000 else INTERNAL
