"""Chrome DevTools Protocol over a pipe: JSON messages, each ended by a zero byte. No TCP port is opened."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Callable

from onair_encoder.browser.cdp_messages import Message, MessageSplitter

CALL_TIMEOUT_S = 5.0
CHUNK = 1 << 20


class CdpClosed(Exception):
    """The browser has ended."""


class CdpTimeout(CdpClosed):
    """The browser runs, but does not respond in time."""


class CdpError(Exception):
    """The browser refused a call."""


class CdpPipe:
    """Calls and events of one browser process. `read_fd` and `write_fd` are our ends of its fds 4 and 3."""

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        on_event: Callable[[str, Message, str | None], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._on_event, self._on_closed = on_event, on_closed
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=CHUNK)
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._read_fd, "rb", 0)
        )
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            messages = MessageSplitter()
            while data := await reader.read(CHUNK):
                for message in messages.feed(data):
                    self._take(message)
        except (ConnectionError, ValueError):
            pass
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(CdpClosed())
            self._waiting.clear()
            self._on_closed()

    def _take(self, message: Message) -> None:
        if future := self._waiting.pop(message.get("id", 0), None):
            if not future.done():
                future.set_result(message)
        elif "method" in message:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId"))

    async def call(
        self,
        method: str,
        params: Message | None = None,
        session: str | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> Message:
        """The result of a call.

        Raises:
            CdpClosed: the browser has ended.
            CdpTimeout: it does not respond within `timeout_s`.
            CdpError: it responded with an error.
        """
        number = next(self._ids)
        message: Message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            os.write(self._write_fd, json.dumps(message).encode() + b"\0")
            # Not asyncio.timeout(): where this process stood still it would discard what has come meanwhile
            if not (await asyncio.wait({future}, timeout=timeout_s))[0]:
                raise CdpTimeout(method)
            response = future.result()
        except OSError as error:
            raise CdpClosed(method) from error
        finally:
            self._waiting.pop(number, None)
        if "error" in response:
            raise CdpError(f"{method}: {response['error'].get('message')}")
        result: Message = response.get("result", {})
        return result

    def close(self) -> None:
        if self._reading:
            self._reading.cancel()
        os.close(self._write_fd)
