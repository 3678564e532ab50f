"""Several ways to one end, tried side by side once the first takes long (RFC 8305)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

NEXT_S = 0.25
"""Another attempt begins beside one that has not come to an end for so long."""
T = TypeVar("T")


async def first_to_succeed(
    attempts: Iterable[Callable[[], Coroutine[Any, Any, T]]], discard: Callable[[T], object]
) -> T:
    """What the first attempt that succeeds gives; the others are cancelled.

    The next one begins when one has failed, or has taken for some time.

    Args:
        attempts: one at least, in the order in which they are to begin.
        discard: takes what others gave that succeeded at the same moment.

    Raises:
        Exception: that of the last one to fail, where none succeeds.
    """
    waiting, running = deque(attempts), set[asyncio.Task[T]]()
    error: BaseException | None = None
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(waiting.popleft()()))
            done, _ = await asyncio.wait(
                running, timeout=NEXT_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for each in done:
                running.discard(each)
                if (failure := each.exception()) is None:
                    return each.result()
                error = failure
        raise error or ValueError("there is nothing to attempt")
    finally:
        for each in running:
            each.cancel()
        for result in await asyncio.gather(*running, return_exceptions=True):
            if not isinstance(result, BaseException):
                discard(result)
