"""Work that is not cut off."""

from __future__ import annotations

import asyncio

import pytest

from onair_crds.runtime.to_its_end import to_its_end


async def test_it_ends_however_often_its_caller_is_cancelled() -> None:
    goes_on, ended = asyncio.Event(), False

    async def work() -> None:
        nonlocal ended
        await goes_on.wait()
        ended = True

    caller = asyncio.create_task(to_its_end(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0.01)
    assert not caller.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended


async def test_its_error_is_raised() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await to_its_end(work())
