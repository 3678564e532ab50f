"""Splits what a browser sends into messages; of one that is too large only its kind is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]
MAX_MESSAGE = 16 * 1024 * 1024
_HEAD = 256
"""Where Chromium writes what a message is: before its content."""
_RESPONSE = re.compile(rb'\{"id":(\d+),')
_EVENT = re.compile(rb'\{"method":"([A-Za-z.]+)"')


class MessageSplitter:
    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._too_large: bytes | None = None
        """The head of the present message, if its rest is skipped."""

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are complete now.

        A response that is too large becomes an error, an event comes without its parameters.

        Raises:
            ValueError: a message is no JSON.
        """
        self._buffer += data
        while (end := self._buffer.find(0, self._searched)) >= 0:
            if end > MAX_MESSAGE:
                self._too_large = bytes(self._buffer[:_HEAD])
            head, message = self._too_large, bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._searched, self._too_large = 0, None
            if head is None:
                yield json.loads(message)
            elif kept := _kind_of(head):
                yield kept
        self._searched = len(self._buffer)
        if len(self._buffer) > MAX_MESSAGE or self._too_large is not None:
            self._too_large = self._too_large or bytes(self._buffer[:_HEAD])
            self._buffer.clear()
            self._searched = 0


def _kind_of(head: bytes) -> Message | None:
    if found := _RESPONSE.match(head):
        return {"id": int(found[1]), "error": {"message": "the response is too large"}}
    if found := _EVENT.match(head):
        return {"method": found[1].decode()}
    return None
