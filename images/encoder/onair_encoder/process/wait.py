"""Waits for SIGTERM, and for sockets of other containers."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path


async def wait_for_path(path: Path, timeout_s: float = 10.0) -> bool:
    """Waits until a socket or file exists; False after the timeout."""
    deadline = time.monotonic() + timeout_s
    while not path.exists():  # noqa: ASYNC240
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


def terminated() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event
