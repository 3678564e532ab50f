"""Those who follow the agent's status are woken by a transition, and by a heartbeat."""

from __future__ import annotations

import asyncio

import pytest

from onair_encoder.agent import changes as changes_module
from onair_encoder.agent.changes import Changes


async def test_a_transition_wakes_all_who_wait_for_one() -> None:
    changes = Changes()
    version = await asyncio.wait_for(changes.after(-1), 1)
    followers = [asyncio.create_task(changes.after(version)) for _ in range(2)]
    await asyncio.sleep(0)
    changes.notify()
    assert await asyncio.wait_for(asyncio.gather(*followers), 1) == [version + 1] * 2


async def test_a_transition_between_two_waits_is_not_missed() -> None:
    changes = Changes()
    changes.notify()
    assert await asyncio.wait_for(changes.after(0), 1) == 1


async def test_without_a_transition_a_heartbeat_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_module, "HEARTBEAT_S", 0.01)
    assert await asyncio.wait_for(Changes().after(0), 1) == 0
