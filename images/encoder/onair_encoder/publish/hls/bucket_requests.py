"""Signed HTTP requests to one bucket, each watched for progress."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules
from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError, network_error
from onair_encoder.publish.hls.address import BucketAddress
from onair_encoder.publish.hls.bytes_taken import BytesTaken
from onair_encoder.publish.hls.outside_resolver import OutsideResolver
from onair_encoder.publish.hls.request_body import RequestBody
from onair_encoder.publish.hls.request_progress import Clock, RequestProgress, ResponseTimeout
from onair_encoder.publish.hls.signing import Signer
from onair_encoder.publish.tls import client_context

CONNECT_TIMEOUT_S = 5.0
_WATCHED: ContextVar[RequestProgress] = ContextVar("watched")
"""The request that a task of the HTTP client sends."""


class _Connector(aiohttp.TCPConnector):
    """Tells each request which connection is its own, be it a new one or one that was used before."""

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  the client's own
    ) -> Connection:
        connection = await super().connect(req, traces, timeout)
        transport = connection.transport
        _WATCHED.get().connected(transport.get_extra_info("socket") if transport else None)
        return connection


class Response:
    """The head of a response, and its body as far as it is read."""

    def __init__(self, response: aiohttp.ClientResponse, progress: RequestProgress) -> None:
        self.status = response.status
        self.etag = response.headers.get("etag", "")
        self._content = response.content
        self._progress = progress

    async def read(self, most_bytes: int) -> bytes:
        """The body, or the first so many bytes; it may take long, as long as bytes come.

        Raises:
            SessionError: no more of it came in time.
        """
        data = bytearray()
        while len(data) < most_bytes and (more := await self._more()):
            data += more
        return bytes(data[:most_bytes])

    async def _more(self) -> bytes:
        reading = asyncio.ensure_future(self._content.readany())
        try:
            await self._progress.more(reading)
            return reading.result()
        finally:
            await _end(reading)


class BucketRequests:
    """Its HTTP session is opened with the first request; `close` ends it."""

    def __init__(
        self,
        storage: ProgramStorage,
        timeout_s: Callable[[], float],
        clock: Clock = time.monotonic,
        inside: InsideRules = EVERYWHERE,
        taken: BytesTaken | None = None,
    ) -> None:
        """
        Args:
            timeout_s: how long a request may make no progress, looked up for each.
            inside: where the storage must not be.
            taken: told how far each object has come.
        """
        self._taken = taken or BytesTaken()
        self._resolver = OutsideResolver(inside)
        self._clock = clock
        self._address = BucketAddress.of(storage)
        self._signer = Signer(storage)
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
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
            progress = RequestProgress(
                self.server,
                self._timeout_s,
                self._response_timeouts[method],
                self._clock,
                lambda taken: self._taken.note(key, len(data), taken),
            )
            response = await self._send(method, key, headers, data, progress)
            try:
                yield Response(response, progress)
            except (aiohttp.ClientError, OSError) as error:
                raise self._broken_off() from error
            finally:
                response.release()
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _send(
        self,
        method: str,
        key: str,
        headers: dict[str, str],
        data: bytes | bytearray,
        progress: RequestProgress,
    ) -> aiohttp.ClientResponse:
        address, session = self._address, self._open_session()
        self._resolver.check_literal(address.host)
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        host = {"host": address.server}
        signed = await self._signer.sign(method, address.path(key), {**host, **headers}, digest)
        if method == "PUT":
            signed["Content-Length"] = str(len(data))
        progress.left(len(data))
        _WATCHED.set(progress)
        try:
            request = asyncio.ensure_future(
                session.request(
                    method,
                    address.base + address.path(key),
                    headers=signed,
                    data=RequestBody(data, progress) if data else None,
                    ssl=await client_context() if address.is_tls else True,
                    allow_redirects=False,
                )
            )
            try:
                await progress.response(request)
                return request.result()
            finally:
                await _end(request)
        except aiohttp.ClientConnectorCertificateError as error:
            raise network_error(error.certificate_error, address.host, address.server) from error
        except aiohttp.ClientConnectorError as error:
            raise network_error(error.os_error, address.host, address.server) from error
        except aiohttp.ServerTimeoutError as error:
            raise SessionError(f"no response from {address.server}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._broken_off() from error

    def _broken_off(self) -> SessionError:
        return SessionError(f"{self.server} closed the connection")

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
                trust_env=False,
                connector=_Connector(resolver=self._resolver),
                auto_decompress=False,
            )
        return self._session

    async def close_when_idle(self) -> None:
        """Closes after the requests that are under way."""
        await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        if self._session:
            await self._session.close()
            self._session = None


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancels what is not done, and waits for it."""
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
