"""Locks by key."""

from __future__ import annotations

import asyncio

from onair_crds.runtime.keyed_locks import KeyedLocks


async def test_those_of_a_key_take_turns_in_order_beside_others_and_nothing_is_kept() -> None:
    locks, order = KeyedLocks[str](), list[str]()
    may_go_on, other_ended = asyncio.Event(), asyncio.Event()

    async def work(key: str, name: str) -> None:
        async with locks.of(key):
            order.append(f"{name} begins")
            if name == "first":
                await may_go_on.wait()
            order.append(f"{name} ends")
            if name == "other":
                other_ended.set()

    tasks = [asyncio.create_task(work(*each)) for each in (("a", "first"), ("a", "second"), ("b", "other"))]
    await other_ended.wait()
    assert order == ["first begins", "other begins", "other ends"]
    may_go_on.set()
    await asyncio.gather(*tasks)
    assert order[3:] == ["first ends", "second begins", "second ends"]
    del tasks
    assert len(locks) == 0
