"""Waits for SIGTERM, for sockets of other containers, and for what comes first."""

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


async def first_of(timeout_s: float | None, *what: asyncio.Event | asyncio.Task[None]) -> None:
    """Waits until one of the events is set, one of the tasks is done, or the timeout is over."""
    waits = [w if isinstance(w, asyncio.Task) else asyncio.create_task(w.wait()) for w in what]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for given, wait in zip(what, waits, strict=True):
            if wait is not given:
                wait.cancel()
