"""The address to publish to by RTMP, from a url and a key, and the TCP or TLS connection to it.

Of a name with several addresses some may be silent, also once they are connected: whichever is open first is
taken (RFC 8305).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from onair_crds.contract.inside_addresses import InsideAddress, InsideRules
from onair_crds.runtime.first_to_succeed import first_to_succeed
from onair_crds.session_error import SessionError, inside_error, network_error
from onair_encoder.publish.tls import client_context

DEFAULT_PORTS = {"rtmp": 1935, "rtmps": 443}
STREAM_BUFFER_LIMIT = 2**20
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class RtmpAddress:
    """A server, an application and a stream. `key`, the stream's name, is a secret and in no text of this."""

    scheme: str
    host: str
    port: int
    app: str
    key: str

    @classmethod
    def of(cls, url: str, key: str | None) -> RtmpAddress:
        """Parses a url; where there is no key the last part of the url's path is it.

        Raises:
            SessionError: the url has no host or no application.
        """
        parts = urlsplit(url)
        path = parts.path.strip("/")
        if key is None:
            path, _, key = path.rpartition("/")
        if parts.query:
            key = f"{key}?{parts.query}"
        if not parts.hostname or parts.scheme not in DEFAULT_PORTS:
            raise SessionError("the url has no server", permanent=True)
        if not key:
            raise SessionError("the url has no stream key", permanent=True)
        try:
            port = parts.port or DEFAULT_PORTS[parts.scheme]
        except ValueError as error:
            raise SessionError("the url's port is not a number up to 65535", permanent=True) from error
        return cls(parts.scheme, parts.hostname, port, path, key)

    @property
    def server(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def tc_url(self) -> str:
        return f"{self.scheme}://{self.server}/{self.app}"

    def __repr__(self) -> str:
        return f"RtmpAddress({self.tc_url!r})"

    async def connect(self, inside: InsideRules) -> Streams:
        """Opens a TCP connection to the server, with TLS for rtmps.

        Args:
            inside: where it must not lead to.

        Raises:
            SessionError: the server is inside, or unreachable, or its certificate is not trusted.
        """
        refused: list[OSError] = []
        try:
            context = await client_context() if self.scheme == "rtmps" else None
            addresses = await inside.addresses(self.host, self.port)
            if not addresses:
                raise OSError(f"{self.host} has no address")
            return await first_to_succeed(
                [partial(self._opened, *each, context, refused) for each in addresses],
                lambda streams: streams[1].transport.abort(),
            )
        except InsideAddress as error:
            raise inside_error(self.host) from error
        except OSError as last:
            # What a server said matters more than that another address is not reachable from here
            cause = refused[0] if refused else last
            if self.scheme == "rtmps" and isinstance(cause, ConnectionResetError | ssl.SSLEOFError):
                raise SessionError(
                    f"{self.server} ended the TLS handshake; it may not speak RTMPS"
                ) from cause
            raise network_error(cause, self.host, self.server) from cause

    async def _opened(
        self,
        family: socket.AddressFamily,
        address: tuple[str | bytes | int, ...],
        context: ssl.SSLContext | None,
        refused: list[OSError],
    ) -> Streams:
        """A connection to one of its addresses, TLS included: a proxy may take it whose server is gone.

        Args:
            refused: gets the error of a server that does not agree on TLS.
        """
        connection = await _connected(family, address)
        try:
            return await asyncio.open_connection(
                sock=connection,
                ssl=context,
                server_hostname=self.host if context else None,
                limit=STREAM_BUFFER_LIMIT,
            )
        except OSError as error:
            refused.append(error)
            raise


async def _connected(family: socket.AddressFamily, address: tuple[str | bytes | int, ...]) -> socket.socket:
    """A connection that does not block. Not all event loops try several addresses in `create_connection`."""
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection
