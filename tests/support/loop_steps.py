"""Measures the steps of an event loop: how long each callback keeps all others waiting."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class LongestStep:
    cpu_s: float = 0.0
    """CPU time of the loop's thread, which does not depend on what else the machine does."""
    what: str = ""
    collection_s: float = 0.0
    """The longest pause for the collection of garbage, which is a part of some step."""


@contextmanager
def measured_steps() -> Iterator[LongestStep]:
    """The longest step of any event loop of this process meanwhile."""
    longest = LongestStep()
    run = asyncio.Handle._run
    collection_began = 0.0

    def measured(handle: asyncio.Handle) -> None:
        callback: Any = handle._callback  # type: ignore[attr-defined]
        began = time.thread_time()
        run(handle)
        took_s = time.thread_time() - began
        if took_s > longest.cpu_s:
            longest.cpu_s, longest.what = took_s, repr(getattr(callback, "__self__", callback))

    def collected(phase: str, _: dict[str, int]) -> None:
        nonlocal collection_began
        if phase == "start":
            collection_began = time.thread_time()
        else:
            longest.collection_s = max(longest.collection_s, time.thread_time() - collection_began)

    asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]
    gc.callbacks.append(collected)
    try:
        yield longest
    finally:
        gc.callbacks.remove(collected)
        asyncio.Handle._run = run  # type: ignore[method-assign]
