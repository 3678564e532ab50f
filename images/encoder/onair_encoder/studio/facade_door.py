"""The facade on the pod's loopback, for the page of the studio; only its rooms, for a page of scenes.

A page from https may call no plain http elsewhere, and the facade's address in the cluster is that. Requests,
streams and WebSockets, the signalling of rooms included, pass as they are; none of it is kept or logged.
If the facade is unavailable, a scene's page joins its room nevertheless: signalling goes to the room server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import unquote

import aiohttp
from aiohttp import WSMsgType, web
from yarl import URL

from onair_crds.contract.pod import FACADE_PATH
from onair_crds.contract.program import Program, ProgramRoomServer
from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_encoder.studio.room_signalling import DirectSignalling, renews_token, room_signalling

INTERFACES = frozenset({"grpcweb", "live", "layout", "event", "webrtc"})
"""First parts of the facade's paths that pages of the studio have a use for."""
ROOMS = frozenset({"webrtc"})
"""The one that a page with a room needs."""
OF_A_CONNECTION = frozenset(
    {"connection", "host", "keep-alive", "origin", "proxy-authorization", "te", "trailer"}
    | {"transfer-encoding", "upgrade", "cookie", "referer"}
)
OF_A_RESPONSE = frozenset({"connection", "keep-alive", "trailer", "transfer-encoding", "set-cookie", "vary"})
CORS = "access-control-"
CONNECT_TIMEOUT_S = 5.0
HANDSHAKE_TIMEOUT_S = 10.0
"""The facade opens the room first, and then connects to its server."""
FALL_BACK_S = 3.0
"""The same where there is another way."""
SILENCE_S = 60.0
"""A response without a byte for so long has lost its facade: event streams have a heartbeat, every 15 s."""
HEARTBEAT_S = 10.0
MAX_MESSAGE = 16 * 2**20

Socket = aiohttp.ClientWebSocketResponse | web.WebSocketResponse


class FacadeDoor:
    def __init__(self) -> None:
        self._facade: URL | None = None
        self._origin: str | None = None
        self._interfaces: frozenset[str] = frozenset()
        self._room_server: ProgramRoomServer | None = None
        self._session: aiohttp.ClientSession | None = None

    def want(self, program: Program, origin: str | None) -> None:
        """Opens the door to the page of a programme, if it is of the studio or draws a scene; else closes it.

        Args:
            origin: of the page.
        """
        self._interfaces = INTERFACES if program.studio else ROOMS if program.scene else frozenset()
        opens = self._interfaces and program.facade_url
        self._facade = URL(program.facade_url) if opens and program.facade_url else None
        self._origin = origin
        self._room_server = program.room_server if program.scene else None

    def add_to(self, app: web.Application) -> None:
        app.router.add_route("*", f"{FACADE_PATH}/{{path:.*}}", self._serve)
        app.on_cleanup.append(self._close)

    async def _close(self, _: web.Application) -> None:
        if self._session:
            await self._session.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if self._facade is None or origin is None or origin != self._origin:
            raise web.HTTPForbidden(text="this page is not admitted")
        path = request.raw_path.removeprefix(FACADE_PATH)
        if not _is_of(self._interfaces, path.partition("?")[0]):
            raise web.HTTPNotFound
        if request.method == "OPTIONS":
            return web.Response(status=204, headers=_preflight(request, origin))
        url = URL(f"{str(self._facade).rstrip('/')}{path}", encoded=True)
        self._session = self._session or aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S), auto_decompress=False
        )
        try:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                room = room_signalling(self._room_server, path) if self._room_server else None
                return await _pass_socket(self._session, url, room, request)
            return await _pass_request(self._session, url, request, origin)
        except (aiohttp.ClientError, TimeoutError) as error:
            log("facade.unreachable", error=type(error).__name__)
            return web.Response(status=503, headers=_allowed(origin))


def _is_of(interfaces: frozenset[str], path: str) -> bool:
    """Whether it leads nowhere else: a proxy on the way may follow `..`, in whatever form it is written."""
    parts = unquote(path).replace("\\", "/").split("/")
    return parts[1] in interfaces and not {".", ".."} & {*parts}


def _allowed(origin: str) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*, Authorization"}


def _preflight(request: web.Request, origin: str) -> dict[str, str]:
    return {
        **_allowed(origin),
        "Access-Control-Allow-Methods": request.headers.get("Access-Control-Request-Method", "GET"),
        "Access-Control-Allow-Headers": request.headers.get("Access-Control-Request-Headers", ""),
        "Access-Control-Max-Age": "7200",
    }


def _passed_on(request: web.Request) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in request.headers.items()
        if name.lower() not in OF_A_CONNECTION and not name.lower().startswith(("sec-", CORS))
    ]


async def _pass_request(
    session: aiohttp.ClientSession, url: URL, request: web.Request, origin: str
) -> web.StreamResponse:
    body = request.content if request.body_exists else None
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_S)
    async with session.request(
        request.method, url, headers=_passed_on(request), data=body, allow_redirects=False, timeout=timeout
    ) as answer:
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        for name, value in answer.headers.items():
            if name.lower() not in OF_A_RESPONSE and not name.lower().startswith(CORS):
                response.headers.add(name, value)
        response.headers.update(_allowed(origin))
        await response.prepare(request)
        try:
            async for part in answer.content.iter_any():
                await response.write(part)
            await response.write_eof()
        except (aiohttp.ClientError, TimeoutError):
            # The page is to see that the rest is missing
            if request.transport:
                request.transport.abort()
        return response


async def _pass_socket(
    session: aiohttp.ClientSession, url: URL, room: DirectSignalling | None, request: web.Request
) -> web.StreamResponse:
    """
    Args:
        room: where else signalling may go, if the facade cannot take it.
    """
    dropped = None
    try:
        far = await _connect(session, url, request, {}, FALL_BACK_S if room else HANDSHAKE_TIMEOUT_S)
    except (aiohttp.ClientError, TimeoutError) as error:
        refused = error.status if isinstance(error, aiohttp.WSServerHandshakeError) else None
        if room is None or (refused and refused < 500):
            if refused is None:
                raise
            return web.Response(status=refused if refused >= 400 else 502)
        log("facade.room-joined-without", error=type(error).__name__)
        try:
            far = await _connect(session, room.url, request, room.headers, HANDSHAKE_TIMEOUT_S)
            # The agent's token is not for the page, and so are the server's renewals of it
            dropped = renews_token
        except aiohttp.WSServerHandshakeError as refusal:
            return web.Response(status=refusal.status if refusal.status >= 400 else 502)
    async with far:
        page = web.WebSocketResponse(
            protocols=[far.protocol] if far.protocol else [],
            heartbeat=HEARTBEAT_S,
            compress=False,
            max_msg_size=MAX_MESSAGE,
        )
        await page.prepare(request)
        await until_one_ends(_pass_on(far, page, dropped), _pass_on(page, far))
        return page


async def _connect(
    session: aiohttp.ClientSession,
    url: URL,
    request: web.Request,
    headers: dict[str, str],
    timeout_s: float,
) -> aiohttp.ClientWebSocketResponse:
    offered = [each.strip() for each in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
    async with asyncio.timeout(timeout_s):
        return await session.ws_connect(
            url,
            protocols=[each for each in offered if each],
            headers=[*_passed_on(request), *headers.items()],
            heartbeat=HEARTBEAT_S,
            max_msg_size=MAX_MESSAGE,
        )


async def _pass_on(
    source: Socket, target: Socket, dropped: Callable[[str | bytes], bool] | None = None
) -> None:
    """Until `source` ends; then `target` is closed with the same code.

    Args:
        dropped: which messages are not passed on.
    """
    async for message in source:
        if dropped and message.type in (WSMsgType.TEXT, WSMsgType.BINARY) and dropped(message.data):
            continue
        if message.type is WSMsgType.TEXT:
            await target.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await target.send_bytes(message.data)
    await target.close(code=_code(source.close_code))


def _code(code: int | None) -> int:
    """A close code that may be sent: some only say that none came."""
    return code if code and (code in (1000, 1001, 1002, 1003, 1011, 1012) or 3000 <= code < 5000) else 1011
