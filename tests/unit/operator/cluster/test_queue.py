"""The queue holds a key once."""

from __future__ import annotations

import asyncio

from onair_operator.cluster.queue import Key, WorkQueue

SHOW = Key("Project", "show")


async def test_a_key_waits_once_and_is_not_worked_on_twice_at_a_time() -> None:
    queue = WorkQueue()
    for _ in range(3):
        queue.add(SHOW)
    assert await queue.take() == SHOW
    queue.add(SHOW)
    assert len(queue) == 0
    queue.done(SHOW)
    assert await queue.take() == SHOW
    queue.done(SHOW)
    assert len(queue) == 0


async def test_of_two_delays_the_earlier_counts() -> None:
    queue = WorkQueue()
    queue.add_after(SHOW, 30)
    queue.add_after(SHOW, 0.01)
    queue.add_after(SHOW, 20)
    assert await asyncio.wait_for(queue.take(), 2) == SHOW


def test_keys_of_different_kinds_differ() -> None:
    assert Key("Project", "a") != Key("Collection", "a")
    assert str(Key("Project", "a")) == "Project/a"
