"""Signed HTTP requests to one bucket, each watched for progress."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import weakref
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError, network_error
from onair_encoder.publish.hls.address import BucketAddress
from onair_encoder.publish.hls.request_progress import RequestProgress, ResponseTimeout
from onair_encoder.publish.hls.signing import Signer
from onair_encoder.publish.tcp_progress import unacknowledged
from onair_encoder.publish.tls import client_context

CONNECT_TIMEOUT_S = 5.0
LEAST_BODY_TIMEOUT_S = 1.0


class Response:
    """The head of a response, and its body as far as it is read."""

    def __init__(
        self, response: aiohttp.ClientResponse, read_within: asyncio.Timeout, limit_s: float
    ) -> None:
        self.status = response.status
        self.etag = response.headers.get("etag", "")
        self._content = response.content
        self._read_within = read_within
        self._limit_s = limit_s

    async def read(self, most_bytes: int) -> bytes:
        """The body, or the first so many bytes; it may take long, as long as bytes come."""
        data = bytearray()
        while len(data) < most_bytes and (more := await self._content.readany()):
            data += more
            self._read_within.reschedule(asyncio.get_running_loop().time() + self._limit_s)
        return bytes(data[:most_bytes])


class BucketRequests:
    """Its HTTP session is opened with the first request; `close` ends it."""

    def __init__(self, storage: ProgramStorage, timeout_s: Callable[[], float]) -> None:
        """
        Args:
            timeout_s: how long a request may make no progress, looked up for each.
        """
        self._address = BucketAddress.of(storage)
        self._signer = Signer(storage)
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._response_timeouts: dict[str, ResponseTimeout] = defaultdict(ResponseTimeout)
        """By method: a storage that is slow to delete is not waited for any longer when it stores."""
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def server(self) -> str:
        return self._address.server

    @asynccontextmanager
    async def request(
        self, method: str, key: str, headers: dict[str, str], data: bytes | bytearray = b""
    ) -> AsyncIterator[Response]:
        """The response, whatever its status.

        Raises:
            SessionError: there is none, or no more of it came in time.
        """
        self._under_way += 1
        self._idle.clear()
        try:
            response = await self._send(method, key, headers, data)
            try:
                limit_s = max(LEAST_BODY_TIMEOUT_S, self._timeout_s())
                async with asyncio.timeout(limit_s) as read_within:
                    yield Response(response, read_within, limit_s)
            except TimeoutError as error:
                raise SessionError(f"stalled: {self.server} did not end its response") from error
            except (aiohttp.ClientError, OSError) as error:
                raise self._broken_off() from error
            finally:
                response.release()
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _send(
        self, method: str, key: str, headers: dict[str, str], data: bytes | bytearray
    ) -> aiohttp.ClientResponse:
        address, session = self._address, self._open_session()
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        host = {"host": address.server}
        signed = await self._signer.sign(method, address.path(key), {**host, **headers}, digest)
        if method == "PUT":
            signed["Content-Length"] = str(len(data))
        progress = RequestProgress(self._unacknowledged, self._response_timeouts[method], len(data))
        try:
            request = asyncio.ensure_future(
                session.request(
                    method,
                    address.base + address.path(key),
                    headers=signed,
                    data=progress.chunks(data) if data else None,
                    ssl=await client_context() if address.is_tls else True,
                    allow_redirects=False,
                )
            )
            return await progress.watch(request, self._timeout_s, address.server)
        except aiohttp.ClientConnectorCertificateError as error:
            raise network_error(error.certificate_error, address.host, address.server) from error
        except aiohttp.ClientConnectorError as error:
            raise network_error(error.os_error, address.host, address.server) from error
        except aiohttp.ServerTimeoutError as error:
            raise SessionError(f"no response from {address.server}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._broken_off() from error

    def _broken_off(self) -> SessionError:
        return SessionError(f"{self.server} broke the connection off")

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
                trust_env=False,
                connector=aiohttp.TCPConnector(socket_factory=self._new_socket),
                auto_decompress=False,
            )
        return self._session

    def _new_socket(self, info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, _ = info
        made = socket.socket(family, kind, protocol)
        self._sockets.add(made)
        return made

    def _unacknowledged(self) -> int:
        with contextlib.suppress(OSError):
            return sum(map(unacknowledged, self._sockets))
        return 0

    async def close_when_idle(self) -> None:
        """Closes after the requests that are under way."""
        await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        if self._session:
            await self._session.close()
            self._session = None
