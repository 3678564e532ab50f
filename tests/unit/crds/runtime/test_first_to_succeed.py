"""Attempts side by side: which one counts, and that nothing stays of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from onair_crds.runtime import first_to_succeed as module
from onair_crds.runtime.first_to_succeed import first_to_succeed

Attempt = Callable[[], Coroutine[Any, Any, str]]


class Attempts:
    """What was begun, and what of it was discarded or cancelled."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.discarded: list[str] = []
        self.cancelled: list[str] = []
        self.stalls = asyncio.Event()

    async def give(self, name: str) -> str:
        self.begun.append(name)
        return name

    async def fail(self, name: str) -> str:
        self.begun.append(name)
        raise OSError(name)

    async def stall(self, name: str) -> str:
        self.begun.append(name)
        self.stalls.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.append(name)
        return name

    async def first(self, *attempts: Attempt) -> str:
        async with asyncio.timeout(10):
            return await first_to_succeed(attempts, self.discarded.append)


@pytest.fixture
def made() -> Attempts:
    return Attempts()


async def test_the_first_alone_is_begun_if_it_succeeds_at_once(made: Attempts) -> None:
    assert await made.first(partial(made.give, "a"), partial(made.give, "b")) == "a"
    assert made.begun == ["a"]


async def test_those_that_take_long_are_overtaken_and_cancelled(
    made: Attempts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEXT_S", 0.01)
    stalls = [partial(made.stall, each) for each in "ab"]
    assert await made.first(*stalls, partial(made.fail, "c"), partial(made.give, "d")) == "d"
    assert made.begun == [*"abcd"]
    assert sorted(made.cancelled) == [*"ab"]


async def test_where_none_succeeds_the_last_failure_says_why(made: Attempts) -> None:
    with pytest.raises(OSError, match="b"):
        await made.first(partial(made.fail, "a"), partial(made.fail, "b"))
    with pytest.raises(ValueError, match="nothing"):
        await made.first()


async def test_of_two_that_succeed_at_once_one_is_discarded(
    made: Attempts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEXT_S", 0.0)
    both = asyncio.Event()

    async def together(name: str) -> str:
        made.begun.append(name)
        if len(made.begun) == 2:
            both.set()
        await both.wait()
        return name

    taken = await made.first(partial(together, "a"), partial(together, "b"))
    assert {taken, *made.discarded} == {*"ab"}


async def test_who_is_cancelled_leaves_none_running(made: Attempts) -> None:
    waiting = asyncio.create_task(made.first(partial(made.stall, "a")))
    await made.stalls.wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    assert made.cancelled == ["a"]
