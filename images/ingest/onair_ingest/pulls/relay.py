"""The way out of one pull: MediaMTX connects here, and this to the server, at an address that was checked.

MediaMTX would resolve a name by itself, after any check. It would not say why a pull fails, either.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable
from functools import partial

from onair_crds.runtime.first_to_succeed import first_to_succeed
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_ingest.pulls.address import PullAddress, relay_authority
from onair_ingest.pulls.address_guard import AddressGuard, PullRefused
from onair_ingest.pulls.connect_message import NotRtmp, relay_connect

CONNECT_S = 5.0
READ_BYTES = 65_536
REPLIES_BYTES = 16_384
"""The server's replies to commands are among the first so many bytes."""
REFUSALS = re.compile(
    rb"NetStream\.Play\.(?:StreamNotFound|Failed)|NetConnection\.Connect\.(?:Rejected|InvalidApp|Failed)"
)


class Relay:
    """Listens on the loopback, as a context manager. `error` says why the last connection failed."""

    def __init__(
        self,
        address: PullAddress,
        guard: AddressGuard,
        tls: ssl.SSLContext,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Args:
            changed: is called when a connection has begun or ended.
        """
        self._address = address
        self.server = address.server
        self.closed = f"{self.server} closed the connection"
        """What is said where nothing else is known."""
        self._guard = guard
        self._tls = tls if address.encrypted else None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._changed = changed
        self.error: str | None = None
        self.closed_at_s: float | None = None
        """When the connection ended, by the event loop's clock; None while there is one, or was none yet."""

    async def __aenter__(self) -> str:
        """Gives the address that MediaMTX is to pull from."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = int(self._server.sockets[0].getsockname()[1])
        return self._address.by_way_of(self._port)

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def check(self) -> None:
        """Connects to the server, and leaves.

        Raises:
            PullRefused: there is no connection to it.
        """
        _, writer = await self._connect()
        writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._connections.add(task)
        self.closed_at_s = None
        self._changed()
        try:
            await self._relay(reader, writer)
        except PullRefused as refused:
            self.error = str(refused)
        except NotRtmp:
            self.error = "the ingest server does not speak RTMP as expected"
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.error = self.error or f"{self.closed} ({type(error).__name__})"
        finally:
            if task:
                self._connections.discard(task)
            writer.close()
            self.closed_at_s = asyncio.get_running_loop().time()
            self._changed()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.error = None
        far_reader, far_writer = await self._connect()
        try:
            await self._pump_both(reader, writer, far_reader, far_writer)
        finally:
            far_writer.close()

    async def _pump_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        """Passes on what both say, until one of them ends."""
        directions = await until_one_ends(self._requests(reader, far_writer), self._media(far_reader, writer))
        for each in directions:
            if not each.cancelled():
                each.result()

    async def _requests(self, reader: asyncio.StreamReader, far_writer: asyncio.StreamWriter) -> None:
        here, there = (
            f"rtmp://{relay_authority(self._port)}",
            f"{self._address.scheme}://{self._address.authority}",
        )
        await relay_connect(reader, far_writer.write, here, there)
        while data := await reader.read(READ_BYTES):
            far_writer.write(data)
            await far_writer.drain()

    async def _media(self, far_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        replies = b""
        while data := await far_reader.read(READ_BYTES):
            if len(replies) < REPLIES_BYTES:
                replies += data
                if refusal := REFUSALS.search(replies):
                    self.error = f"{self.server} refuses: {refusal[0].decode()}"
            writer.write(data)
            await writer.drain()
        self.error = self.error or self.closed

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the first address of the server that takes one, with TLS if it is encrypted.

        Raises:
            PullRefused
        """
        host, port, server = self._address.host, self._address.port, self.server
        reason = f"{server} does not respond"

        async def attempt(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            nonlocal reason
            try:
                return await asyncio.open_connection(
                    address, port, ssl=self._tls, server_hostname=host if self._tls else None
                )
            except OSError as error:
                reason = self._reason(error)
                raise

        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(CONNECT_S):
                attempts = [partial(attempt, each) for each in await self._guard.resolve(host, port)]
                return await first_to_succeed(attempts, lambda streams: streams[1].close())
        raise PullRefused(reason)

    def _reason(self, error: OSError) -> str:
        """Why there is no connection to an address."""
        server = self.server
        match error:
            case ssl.SSLCertVerificationError():
                return f"the certificate of {server} is not valid: {error.verify_message}"
            case ssl.SSLError():
                return f"{server} does not speak TLS"
            case ConnectionRefusedError():
                return f"{server} refused the connection"
            case ConnectionError():
                return f"{server} does not speak TLS" if self._tls else self.closed
            case _:
                return f"{server} is unreachable"
