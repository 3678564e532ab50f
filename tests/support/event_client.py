"""Clients of the event interface: a stream for each transport, all with one interface."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlencode

import httpx
from tests.support.facade import DEADLINE_S, FacadeThread, User
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from onair_crds.shapes import JsonObject

PUBLISH = "/event/v2/publish"

ANNOUNCED_S = 3.0

QUIET_S = 0.25
"""How long a stream must stay silent to count as silent; deliveries take a few milliseconds."""


def publishes(user: User, name: str = "e") -> bool:
    """Publishes an event to the user's own sessions; returns whether that worked."""
    return user.call("POST", PUBLISH, {"name": name, "payload": {}}).is_success


class MessageSource(Protocol):
    def next(self, deadline_s: float = DEADLINE_S) -> JsonObject:
        """The next message."""


def events_of(stream: MessageSource, count: int) -> list[JsonObject]:
    """The next `count` events, as their messages' `result`; other messages fail the test."""
    found = []
    for _ in range(count):
        result = stream.next()["result"]
        assert "event" in result, result
        found.append(result)
    return found


class HttpAddress(Protocol):
    url: str
    """Of the HTTP interface."""


def wait_for_announcements(at: HttpAddress) -> None:
    """Waits until a replica has announced all it has, so that no stream is told of what came before it.

    A test that holds up a replica's watches goes on after a moment.
    """
    if isinstance(at, FacadeThread):
        with contextlib.suppress(AssertionError):
            wait_for(at.has_announced, timeout_s=ANNOUNCED_S)


class WebSocket:
    """A stream over WebSocket."""

    def __init__(self, at: HttpAddress, token: str | None, *, way: str = "subprotocol", **query: str) -> None:
        self._at = at
        wait_for_announcements(at)
        headers = {"Authorization": f"Bearer {token}"} if way == "header" else {}
        if way == "query" and token is not None:
            query["access_token"] = token
        url = at.url.replace("http", "ws") + "/event/v2/stream" + (f"?{urlencode(query)}" if query else "")
        names = [Subprotocol("Bearer"), Subprotocol(token)] if way == "subprotocol" and token else None
        self._context = connect(
            url,
            subprotocols=names,
            additional_headers=headers,
            proxy=None,
            open_timeout=DEADLINE_S,
            close_timeout=1,
            compression=None,
            max_size=None,
        )
        self.socket = self._context.__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._context.__exit__(None, None, None)

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def next(self, deadline_s: float = DEADLINE_S) -> JsonObject:
        try:
            return json.loads(self.socket.recv(deadline_s))  # type: ignore[no-any-return]
        except TimeoutError:
            raise AssertionError(f"no message within {deadline_s:g} s") from None

    def ask(self, **message: Any) -> JsonObject:
        """The reply to one request, when nothing else is due."""
        self.send(**message)
        return self.next()["result"]  # type: ignore[no-any-return]

    def subscribe(self, name: str = "*", **target: str) -> None:
        wait_for_announcements(self._at)
        result = self.ask(subscribe={"name": name, **({"target": target} if target else {})})
        assert "subscribed" in result, result

    def assert_silent(self) -> None:
        with contextlib.suppress(AssertionError):
            message = self.next(QUIET_S)
            raise RuntimeError(f"not silent: {message}")

    def closed(self) -> int | None:
        """Waits for the server to close; gives the code."""
        try:
            while True:
                self.socket.recv(DEADLINE_S)
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else None


class HttpStream:
    """A stream as a plain HTTP response: newline-delimited JSON, or server-sent events."""

    def __init__(self, facade: HttpAddress, user: User, *, sse: bool = False, **query: str) -> None:
        wait_for_announcements(facade)
        self._messages: queue.Queue[str | None] = queue.Queue()
        headers = {**user.headers, **({"Accept": "text/event-stream"} if sse else {})}
        self._client = httpx.Client(base_url=facade.url, trust_env=False, timeout=None, verify=NO_TLS)
        self._context = self._client.stream("GET", "/event/v2/stream", params=query, headers=headers)
        self.response = self._context.__enter__()
        self.sse = sse
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            self.response.extensions["network_stream"].get_extra_info("socket").shutdown(2)
        self._thread.join(5)
        with contextlib.suppress(Exception):
            self._context.__exit__(None, None, None)
            self._client.close()

    def next(self, deadline_s: float = DEADLINE_S) -> JsonObject:
        try:
            line = self._messages.get(timeout=deadline_s)
        except queue.Empty:
            raise AssertionError(f"no message within {deadline_s:g} s") from None
        assert line is not None, "the stream ended"
        return json.loads(line)  # type: ignore[no-any-return]

    def assert_silent(self) -> None:
        try:
            raise RuntimeError(f"not silent: {self._messages.get(timeout=QUIET_S)}")
        except queue.Empty:
            return

    def ended(self) -> bool:
        while self._messages.get(timeout=DEADLINE_S) is not None:
            pass
        return True

    def _read(self) -> None:
        with contextlib.suppress(Exception):
            for line in self.response.iter_lines():
                if self.sse:
                    if line.startswith("data: "):
                        self._messages.put(line.removeprefix("data: "))
                elif line:
                    self._messages.put(line)
        self._messages.put(None)


class RawStream:
    """A subscriber that reads only when a test does: no library reads ahead for it."""

    def __init__(self, facade: HttpAddress, user: User, *, websocket: bool = True, **query: str) -> None:
        host, port = facade.url.removeprefix("http://").split(":")
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        self._socket.connect((host, int(port)))
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )
        self._socket.sendall(
            f"GET /event/v2/stream?{urlencode({'subscribe.name': '*', **query})} HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: Bearer {user.token}\r\n{upgrade if websocket else ''}\r\n".encode()
        )
        self._buffer = b""
        while b'"subscribed"' not in self._buffer:
            self._receive()
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def read_until(self, wanted: Callable[[JsonObject], bool]) -> list[JsonObject]:
        """Messages up to the first that is wanted."""
        messages = []
        while True:
            message = self._message()
            if message is None:
                continue
            messages.append(message)
            if wanted(message):
                return messages

    def _message(self) -> JsonObject | None:
        """One frame of the server; None for a ping."""
        opcode = self._take(1)[0] & 0x0F
        size = self._take(1)[0]
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        payload = self._take(size)
        return json.loads(payload) if opcode == 1 else None

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._receive()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _receive(self) -> None:
        self._socket.settimeout(10)
        data = self._socket.recv(262_144)
        assert data, "the stream ended"
        self._buffer += data


SignIn = Callable[..., User]
