"""An address at which nothing responds, as behind a network that drops packets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager

SILENT_HOST = "127.0.0.2"
ENOUGH = 8
"""Connections that fill the queue of a listener without one."""


@contextmanager
def silent_port() -> Iterator[int]:
    """A port of `SILENT_HOST` whose listener is full: the kernel drops what asks for another connection."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind((SILENT_HOST, 0))
        listener.listen(0)
        for _ in range(ENOUGH):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield listener.getsockname()[1]
