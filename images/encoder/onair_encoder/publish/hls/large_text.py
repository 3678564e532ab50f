"""Texts of a bucket, which may be of megabytes whoever wrote them: to read through one takes a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
LARGE_CHARS = 64 * 1024


async def read_through(text: str, read: Callable[[str], Result]) -> Result:
    """What `read` gives for a text: in a thread for a large one, as the other destinations would wait."""
    if len(text) < LARGE_CHARS:
        return read(text)
    return await asyncio.to_thread(read, text)
