"""The queue holds a key once."""

from __future__ import annotations

import asyncio

import pytest

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
    async with asyncio.timeout(2):
        assert await queue.take() == SHOW


async def test_a_look_that_is_due_is_not_put_off_by_a_later_one() -> None:
    queue = WorkQueue()
    queue.add_after(SHOW, 0)
    queue.add_after(SHOW, 30)
    async with asyncio.timeout(2):
        assert await queue.take() == SHOW


async def test_news_goes_before_what_may_wait_and_that_has_its_turn_all_the_same() -> None:
    queue = WorkQueue()
    old = [Key("Source", f"old-{number}") for number in range(100)]
    for key in old:
        queue.add(key, later=True)
    news = [Key("Source", f"news-{number}") for number in range(30)]
    for key in news:
        queue.add(key)
    assert len(queue) == 130
    taken = [await queue.take() for _ in range(33)]
    assert [key for key in taken if key in news] == news
    assert [key for key in taken if key in old] == old[:3]
    assert [await queue.take() for _ in range(97)] == old[3:]


async def test_services_have_their_turns_however_much_news_one_has() -> None:
    queue = WorkQueue()
    queue.service_of = lambda key: key.name.partition("-")[0]
    old = [Key("Project", f"old-{number}") for number in range(10)]
    for key in old:
        queue.add(key, later=True)
    many = [Key("Project", f"many-{number}") for number in range(1000)]
    for key in many:
        queue.add(key)
    assert [await queue.take() for _ in range(5)] == many[:5]
    few = [Key("Source", f"few-{number}") for number in range(2)]
    for key in (*few, Key("Project", "one-0"), *few):
        queue.add(key)
    assert len(queue) == 1008
    taken = [str(await queue.take()) for _ in range(6)]
    assert taken == [
        "Project/many-5",
        "Source/few-0",
        "Project/one-0",
        "Project/many-6",
        "Project/old-0",
        "Source/few-1",
    ]
    queue.add(few[0])
    queue.done(few[0])
    assert [await queue.take() for _ in range(2)] == [many[7], few[0]]
    rest = [await queue.take() for _ in range(len(queue))]
    assert [key for key in rest if key in many] == many[8:]
    assert [key for key in rest if key in old] == old[1:]


async def test_what_may_wait_becomes_news_and_is_taken_once() -> None:
    queue = WorkQueue()
    other = Key("Project", "other")
    queue.add(other, later=True)
    queue.add(SHOW, later=True)
    queue.add(SHOW)
    queue.add(SHOW, later=True)
    assert len(queue) == 2
    assert await queue.take() == SHOW
    queue.add(SHOW)
    queue.done(SHOW)
    assert await queue.take() == SHOW
    queue.done(SHOW)
    assert await queue.take() == other
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await queue.take()


def test_keys_of_different_kinds_differ() -> None:
    assert Key("Project", "a") != Key("Collection", "a")
    assert str(Key("Project", "a")) == "Project/a"


async def test_nothing_is_left_of_what_waited_when_leading_ended() -> None:
    queue = WorkQueue()
    first, second, third = (Key("Project", name) for name in ("first", "second", "third"))
    queue.add(first)
    assert await queue.take() == first
    for key in (first, second):
        queue.add(key)
    queue.add(third, later=True)
    queue.add_after(SHOW, 0.0)
    queue.done(first)
    queue.clear()
    assert len(queue) == 0
    queue.add(third)
    queue.add(second, later=True)
    async with asyncio.timeout(5):
        assert [await queue.take() for _ in range(2)] == [third, second]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await queue.take()
