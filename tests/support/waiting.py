"""How tests wait: until something holds, or the test fails with what did not."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar, overload

T = TypeVar("T")
POLL_S = 0.01
TIMEOUT_S = 20.0
WITHIN_S = 2.0
"""Of what may take a second: twice the bound, as everywhere in tests."""


def wait_for(
    check: Callable[[], T | Literal[False] | None],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float = POLL_S,
    state: Callable[[], object] | None = None,
) -> T:
    """Returns the first true value of `check`.

    Args:
        what: is to hold, for the error.
        state: of what is waited for, for the error.

    Raises:
        AssertionError: there was none in time.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        if found := check():
            return found
        _check_time(deadline_s, what, timeout_s, state)
        time.sleep(poll_s)


@overload
async def until(
    check: Callable[[], Awaitable[T | Literal[False] | None]],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float = POLL_S,
    state: Callable[[], object] | None = None,
) -> T: ...
@overload
async def until(
    check: Callable[[], T | Literal[False] | None],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float = POLL_S,
    state: Callable[[], object] | None = None,
) -> T: ...
async def until(
    check: Callable[[], object],
    what: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    poll_s: float = POLL_S,
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
        _check_time(deadline_s, what, timeout_s, state)
        await asyncio.sleep(poll_s)


async def seconds_until(
    check: Callable[[], object], what: str = "", timeout_s: float = TIMEOUT_S, *, poll_s: float = POLL_S
) -> float:
    """Waits likewise; returns after how many seconds it held."""
    began_s = time.monotonic()
    await until(check, what, timeout_s, poll_s=poll_s)
    return time.monotonic() - began_s


def _check_time(deadline_s: float, what: str, timeout_s: float, state: Callable[[], object] | None) -> None:
    seen = f"; {state()}" if state and time.monotonic() >= deadline_s else ""
    assert time.monotonic() < deadline_s, f"not within {timeout_s:g} s: {what}{seen}"
