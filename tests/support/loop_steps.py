"""Measures the steps of an event loop: how long each callback keeps all others waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class LongestStep:
    cpu_s: float = 0.0
    """CPU time of the loop's thread, which does not depend on what else the machine does."""
    what: str = ""


@contextmanager
def measured_steps() -> Iterator[LongestStep]:
    """The longest step of any event loop of this process meanwhile."""
    longest = LongestStep()
    run = asyncio.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        described = repr(handle) if longest.cpu_s == 0 else ""
        began = time.thread_time()
        run(handle)
        took_s = time.thread_time() - began
        if took_s > longest.cpu_s:
            longest.cpu_s, longest.what = took_s, described or repr(handle)

    asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]
    try:
        yield longest
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]
