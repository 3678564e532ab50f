"""Parts that live and end together."""

from __future__ import annotations

import asyncio

import pytest

from onair_crds.runtime.until_one_ends import until_one_ends


async def for_ever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


async def at_once() -> None:
    return


async def failing() -> None:
    raise ConnectionError("gone")


async def test_the_end_of_one_cancels_the_others() -> None:
    ended: list[str] = []
    first, second, third = await until_one_ends(for_ever(ended), at_once(), for_ever(ended))
    assert [first.cancelled(), second.cancelled(), third.cancelled()] == [True, False, True]
    assert ended == ["cancelled"] * 2


async def test_a_failure_is_the_callers_to_raise() -> None:
    first, second = await until_one_ends(for_ever([]), failing())
    assert first.cancelled()
    with pytest.raises(ConnectionError, match="gone"):
        second.result()


async def test_all_end_with_whoever_waits() -> None:
    ended: list[str] = []
    waiting = asyncio.create_task(until_one_ends(for_ever(ended), for_ever(ended)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["cancelled"] * 2
