"""Those who follow the agent's status are woken by a transition, and by a heartbeat."""

from __future__ import annotations

import asyncio

import pytest

from onair_encoder.agent import changes as changes_module
from onair_encoder.agent.changes import Changes


async def test_a_transition_wakes_all_who_wait_for_one() -> None:
    changes = Changes()
    async with asyncio.timeout(1):
        version = await changes.after(-1)
    followers = [asyncio.create_task(changes.after(version)) for _ in range(2)]
    await asyncio.sleep(0)
    changes.notify()
    async with asyncio.timeout(1):
        assert await asyncio.gather(*followers) == [version + 1] * 2


async def test_a_transition_between_two_waits_is_not_missed() -> None:
    changes = Changes()
    changes.notify()
    async with asyncio.timeout(1):
        assert await changes.after(0) == 1


async def test_without_a_transition_a_heartbeat_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_module, "HEARTBEAT_S", 0.01)
    async with asyncio.timeout(1):
        assert await Changes().after(0) == 0
