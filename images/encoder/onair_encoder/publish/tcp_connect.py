"""Opens a TCP connection to a name with several addresses, of which some may be silent (RFC 8305)."""

from __future__ import annotations

import asyncio
import socket
from collections import deque

from onair_crds.contract.inside_addresses import InsideRules

NEXT_ADDRESS_S = 0.25
"""Another address is tried beside one that has not responded for so long."""


async def connect(host: str, port: int, inside: InsideRules) -> socket.socket:
    """A connection that does not block, to whichever address responds first.

    In every event loop: not all have this in their own `create_connection`.

    Raises:
        InsideAddress: the name leads inside.
        OSError: that of an address, where none takes a connection; or the name was not found.
    """
    waiting = deque(await inside.addresses(host, port))
    attempts: set[asyncio.Task[socket.socket]] = set()
    error: BaseException = OSError(f"{host} has no address")
    try:
        while waiting or attempts:
            if waiting:
                attempts.add(asyncio.create_task(_connect(*waiting.popleft())))
            done, _ = await asyncio.wait(
                attempts,
                timeout=NEXT_ADDRESS_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for each in done:
                attempts.discard(each)
                if (failure := each.exception()) is None:
                    return each.result()
                error = failure
        raise error
    finally:
        await _discard(attempts)


async def _connect(family: socket.AddressFamily, address: tuple[str | bytes | int, ...]) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


async def _discard(attempts: set[asyncio.Task[socket.socket]]) -> None:
    for each in attempts:
        each.cancel()
    for result in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(result, socket.socket):
            result.close()
