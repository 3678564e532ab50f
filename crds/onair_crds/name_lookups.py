"""Looks up names of other people's servers, whose name servers may never respond.

An event loop has few threads for lookups, and one that has begun goes on after whoever waits for it has
given up: a few such names keep a program from finding its own servers. Here each lookup has a thread of
its own, and a name that was slow the last time waits for none but its like.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections import OrderedDict
from functools import partial
from weakref import WeakKeyDictionary

SocketAddress = tuple[socket.AddressFamily, tuple[str | bytes | int, ...]]

AT_A_TIME = 32
"""Lookups, and as many of names that are known to be slow."""
SLOW_S = 2.0
MAX_SLOW = 4096
"""Slow names that are remembered."""


class NameLookups:
    """Looks names up for one event loop."""

    def __init__(self, at_a_time: int = AT_A_TIME, slow_s: float = SLOW_S) -> None:
        self._slow_s = slow_s
        self._places, self._places_of_slow = asyncio.Semaphore(at_a_time), asyncio.Semaphore(at_a_time)
        self._running: dict[tuple[str, int], asyncio.Future[list[SocketAddress]]] = {}
        self._slow: OrderedDict[str, None] = OrderedDict()

    async def addresses(self, host: str, port: int) -> list[SocketAddress]:
        """Addresses of a host for TCP, in the order in which they are to be tried.

        Raises:
            OSError, UnicodeError: the name cannot be resolved.
        """
        with contextlib.suppress(socket.gaierror):  # it is a name
            return _found(host, port, socket.AI_NUMERICHOST)
        lookup = self._running.get((host, port))
        if lookup is None:
            places = self._places_of_slow if host in self._slow else self._places
            await places.acquire()
            # Somebody else may have begun meanwhile
            lookup = self._running.get((host, port))
            if lookup is None:
                lookup = self._begun(host, port, places)
            else:
                places.release()
        return await asyncio.shield(lookup)

    def _begun(self, host: str, port: int, places: asyncio.Semaphore) -> asyncio.Future[list[SocketAddress]]:
        """Takes a place, which the lookup gives back at its end."""
        loop = asyncio.get_running_loop()
        lookup: asyncio.Future[list[SocketAddress]] = loop.create_future()
        # A daemon: a program that ends does not wait for it
        thread = threading.Thread(target=_look_up, args=(loop, lookup, host, port), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # there are too many in this container
            places.release()
            raise OSError(str(error)) from error
        self._running[host, port] = lookup
        lookup.add_done_callback(partial(self._ended, host, port, places, time.monotonic()))
        return lookup

    def _ended(
        self,
        host: str,
        port: int,
        places: asyncio.Semaphore,
        began_s: float,
        lookup: asyncio.Future[list[SocketAddress]],
    ) -> None:
        places.release()
        del self._running[host, port]
        self._slow.pop(host, None)
        if time.monotonic() - began_s > self._slow_s:
            self._slow[host] = None
        if len(self._slow) > MAX_SLOW:
            self._slow.popitem(last=False)
        if not lookup.cancelled():
            # Whoever waited for it may have given up: it is not reported as never retrieved
            lookup.exception()


_LOOKUPS: WeakKeyDictionary[asyncio.AbstractEventLoop, NameLookups] = WeakKeyDictionary()


def name_lookups() -> NameLookups:
    """Those of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _LOOKUPS:
        _LOOKUPS[loop] = NameLookups()
    return _LOOKUPS[loop]


def _look_up(
    loop: asyncio.AbstractEventLoop, lookup: asyncio.Future[list[SocketAddress]], host: str, port: int
) -> None:
    """Runs in a thread of its own."""
    try:
        done = partial(lookup.set_result, _found(host, port, 0))
    except Exception as error:  # noqa: BLE001 - whoever waits for it raises it
        done = partial(lookup.set_exception, error)
    with contextlib.suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(done)


def _found(host: str, port: int, flags: int) -> list[SocketAddress]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, address) for family, _, _, _, address in found]
