"""Delivers to an RTMP or RTMPS server, over a TCP or TLS connection to one of its addresses.

Of a name with several addresses some may be silent, also once they are connected: whichever is open first is
taken (RFC 8305).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial

from onair_crds.contract.inside_addresses import InsideAddress, InsideRules
from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.runtime.first_to_succeed import first_to_succeed
from onair_crds.session_error import SessionError, inside_error, network_error
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.rtmp.connection import RtmpConnection, Streams
from onair_encoder.publish.stream_session import OPEN_TIMEOUT_S, StreamSession
from onair_encoder.publish.tls import client_context

MIN_ACK_WINDOW, MAX_ACK_WINDOW = 2048, 256 * 1024
"""Bytes. Each acknowledgement wakes this process and the server."""
STREAM_BUFFER_LIMIT = 2**20


class RtmpOutput(Output):
    async def open(self) -> DeliverySession:
        wanted = self.destination.wanted
        address = RtmpAddress.of(wanted.url, wanted.key.get_secret_value() if wanted.key else None)
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                streams = await open_streams(address, self.destination.run.inside)
                connection = await RtmpConnection.publish(address, streams, self._ack_window())
        except TimeoutError:
            raise SessionError(f"no response from {address.server}") from None
        return StreamSession(self.destination, connection)

    def _ack_window(self) -> int:
        """Several acknowledgements within the timeout, however low the bitrate."""
        within_timeout = self.destination.fan_out.bytes_per_s * self.destination.timeout_s
        return int(min(MAX_ACK_WINDOW, max(MIN_ACK_WINDOW, within_timeout / 4)))


async def open_streams(address: RtmpAddress, inside: InsideRules) -> Streams:
    """Opens a TCP connection to the server, with TLS for rtmps.

    Args:
        inside: where it must not lead to.

    Raises:
        SessionError: the server is inside, or unreachable, or its certificate is not trusted.
    """
    refused: list[OSError] = []
    try:
        context = await client_context() if address.scheme == "rtmps" else None
        found = await inside.addresses(address.host, address.port)
        if not found:
            raise OSError(f"{address.host} has no address")
        return await first_to_succeed(
            [partial(_opened, *each, address.host, context, refused) for each in found],
            lambda streams: streams[1].transport.abort(),
        )
    except InsideAddress as error:
        raise inside_error(address.host) from error
    except OSError as last:
        # What a server said matters more than that another address is not reachable from here
        cause = refused[0] if refused else last
        if address.scheme == "rtmps" and isinstance(cause, ConnectionResetError | ssl.SSLEOFError):
            raise SessionError(f"{address.server} ended the TLS handshake; it may not speak RTMPS") from cause
        raise network_error(cause, address.host, address.server) from cause


async def _opened(
    family: socket.AddressFamily,
    address: tuple[str | bytes | int, ...],
    host: str,
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
            server_hostname=host if context else None,
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
