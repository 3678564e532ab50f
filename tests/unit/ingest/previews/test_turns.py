"""Previews that wait for others say so, once."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.waiting import until

from onair_ingest.previews import turns as module
from onair_ingest.previews.turns import Turns


async def test_who_waits_for_long_says_so_once_and_has_a_turn_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITS_S", 0.01)
    running, joining = asyncio.Semaphore(1), asyncio.Semaphore(1)
    said: list[str] = []
    first = Turns(running, joining, lambda: said.append("first"))
    second = Turns(running, joining, lambda: said.append("second"))
    async with first.turn():
        waiting = asyncio.create_task(_takes(second))
        await until(lambda: said, "the one that waits says so", 5)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.shield(waiting)
    async with asyncio.timeout(5):
        await waiting
    assert said == ["second"]
    assert not running.locked()


async def test_who_is_cancelled_while_it_waits_leaves_the_turn_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WAITS_S", 60)
    running, joining = asyncio.Semaphore(1), asyncio.Semaphore(1)
    turns = Turns(running, joining, lambda: pytest.fail("said after its end"))
    async with turns.turn():
        waiting = asyncio.create_task(_takes(turns))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5):
        await _takes(turns)


async def _takes(turns: Turns) -> None:
    async with turns.turn():
        pass
