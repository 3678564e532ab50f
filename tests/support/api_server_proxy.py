"""A proxy between a facade and its API server that cuts and silences connections."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Self

from tests.support.facade import Facade

StartBehind = Callable[..., Facade]
"""Makes a replica that reaches the API server by the proxy alone, with settings by name."""


class Proxy:
    """Between the facade and the API server: passes bytes on, cuts connections, or keeps silent."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = True
        self._passing = threading.Event()
        self._passing.set()
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
                for source, sink in ((client, server), (server, client)):
                    passing = (source, sink, self._passing)
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

    def silence(self) -> None:
        """Passes nothing on any more, and says nothing of it."""
        self._passing.clear()

    def stall(self) -> None:
        """As `silence`, for the connections that are open now; new ones work."""
        self._passing.clear()
        self._passing = threading.Event()
        self._passing.set()

    def speak(self) -> None:
        """The silent connections are gone; new ones work."""
        self.cut()
        self._passing.set()
