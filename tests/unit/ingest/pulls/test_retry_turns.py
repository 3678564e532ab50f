"""Turns come one at a time, with rests in between."""

from __future__ import annotations

import asyncio

import pytest

from onair_ingest.pulls.retry_turns import RESTS, RetryTurns

TURN_S = 0.03


async def test_a_turn_is_followed_by_a_rest_also_if_it_failed() -> None:
    turns = RetryTurns()
    loop = asyncio.get_running_loop()
    with pytest.raises(ValueError, match="in a turn"):
        await _fails_in(turns)
    ended_s = loop.time()
    async with asyncio.timeout(5), turns.turn():
        assert loop.time() - ended_s >= RESTS * TURN_S - 0.005


async def test_who_is_cancelled_while_it_waits_leaves_its_turn_to_others() -> None:
    turns = RetryTurns()
    async with turns.turn():
        waiting = asyncio.create_task(turns.turn().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5), turns.turn():
        pass


async def _fails_in(turns: RetryTurns) -> None:
    async with turns.turn():
        await asyncio.sleep(TURN_S)
        raise ValueError("in a turn")
