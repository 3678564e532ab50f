"""A proxy between a program and its API server that cuts or silences connections, in either direction."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Self

from tests.support.facade import FacadeThread

StartBehind = Callable[..., FacadeThread]
"""Makes a replica that reaches the API server by the proxy alone, with settings by name."""


TO_SERVER, TO_CLIENT = "upstream", "downstream"


class Proxy:
    """Between a program and the API server: passes bytes on, cuts connections, or keeps silent."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = True
        self._passing = _passing()
        self._pairs: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self._open:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target)
                except OSError:
                    client.close()
                    continue
                self._pairs += [client, server]
                for source, sink, direction in ((client, server, TO_SERVER), (server, client, TO_CLIENT)):
                    passing = (source, sink, self._passing[direction])
                    threading.Thread(target=self._pass, args=passing, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, passing: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                passing.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self, *, refuse: bool = False) -> None:
        """Ends all connections; with `refuse` new ones too."""
        self._open = not refuse
        pairs, self._pairs = self._pairs, []
        for end in pairs:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def admit(self) -> None:
        self._open = True

    def silence(self, *directions: str) -> None:
        """Passes nothing on any more, in these directions or in both, and says nothing of it."""
        for direction in directions or self._passing:
            self._passing[direction].clear()

    def stall(self) -> None:
        """As `silence`, for the connections that are open now; new ones work."""
        self.silence()
        self._passing = _passing()

    def speak(self) -> None:
        """The silent connections are gone; new ones work."""
        self.cut()
        for passing in self._passing.values():
            passing.set()


def _passing() -> dict[str, threading.Event]:
    events = {TO_SERVER: threading.Event(), TO_CLIENT: threading.Event()}
    for event in events.values():
        event.set()
    return events
