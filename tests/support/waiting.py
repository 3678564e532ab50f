"""How tests wait: until something holds, or the test fails with what did not."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar, overload

T = TypeVar("T")
POLL_S, LONGEST_POLL_S = 0.01, 0.05
POLLS = 20
"""Polls come this many times as often as what is waited for takes, so that they take less of its CPU time."""
TIMEOUT_S = 20.0
WITHIN_S = 2.0
"""Of what may take a second: twice the bound, as everywhere in tests."""


def wait_for(
    check: Callable[[], T | Literal[False] | None],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float | None = None,
    state: Callable[[], object] | None = None,
) -> T:
    """Returns the first true value of `check`.

    Args:
        what: is to hold, for the error.
        poll_s: the time between two looks; without it more of it the longer it takes.
        state: of what is waited for, for the error.

    Raises:
        AssertionError: there was none in time.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        if found := check():
            return found
        left_s = _time_left_s(deadline_s, what, timeout_s, state)
        time.sleep(poll_s or _pause_s(timeout_s - left_s))


@overload
async def until(
    check: Callable[[], Awaitable[T | Literal[False] | None]],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float | None = None,
    state: Callable[[], object] | None = None,
) -> T: ...
@overload
async def until(
    check: Callable[[], T | Literal[False] | None],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float | None = None,
    state: Callable[[], object] | None = None,
) -> T: ...
async def until(
    check: Callable[[], object],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float | None = None,
    state: Callable[[], object] | None = None,
) -> object:
    """Does the same in an event loop; `check` may be a coroutine function."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        found = check()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        left_s = _time_left_s(deadline_s, what, timeout_s, state)
        await asyncio.sleep(poll_s or _pause_s(timeout_s - left_s))


async def seconds_until(
    check: Callable[[], object], what: str = "", timeout_s: float = TIMEOUT_S, *, poll_s: float | None = None
) -> float:
    """Waits likewise; returns after how many seconds it held."""
    began_s = time.monotonic()
    await until(check, what, timeout_s, poll_s=poll_s)
    return time.monotonic() - began_s


def _time_left_s(deadline_s: float, what: str, timeout_s: float, state: Callable[[], object] | None) -> float:
    left_s = deadline_s - time.monotonic()
    seen = f"; {state()}" if state and left_s <= 0 else ""
    assert left_s > 0, f"not within {timeout_s:g} s: {what}{seen}"
    return left_s


def _pause_s(waited_s: float) -> float:
    return min(max(POLL_S, waited_s / POLLS), LONGEST_POLL_S)
