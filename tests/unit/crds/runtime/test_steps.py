"""Work that others have their turns in."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest

from onair_crds.runtime import steps
from onair_crds.runtime.steps import PACE, SharedPace, Steps, at_once, done


def squares(count: int) -> Steps[list[int]]:
    found = []
    for each in range(count):
        yield
        found.append(each * each)
    return found


def test_all_of_it_is_done_at_once() -> None:
    assert at_once(squares(5)) == [0, 1, 4, 9, 16]
    assert at_once(squares(0)) == []


async def test_others_have_their_turns_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    working, turns = asyncio.create_task(done(squares(50))), 0
    while not working.done():
        turns += 1
        await asyncio.sleep(0)
    assert working.result() == at_once(squares(50))
    assert turns >= 50


async def test_an_error_ends_it() -> None:
    def failing() -> Steps[None]:
        yield
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await done(failing())


async def test_works_of_one_pace_take_a_step_together_in_turn_with_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    rounds, taken = 0, list[tuple[int, str]]()

    def work(name: str) -> Steps[None]:
        for _ in range(10):
            taken.append((rounds, name))
            yield

    async def paced(pace: SharedPace | None, name: str) -> None:
        PACE.set(pace)
        await done(work(name))

    hostile, quiet = SharedPace(), SharedPace()
    tasks = [asyncio.create_task(paced(hostile, f"hostile {at}")) for at in range(20)]
    await asyncio.sleep(0)
    begun = rounds = 1
    tasks.append(asyncio.create_task(paced(quiet, "quiet")))
    while not tasks[-1].done():
        await asyncio.sleep(0)
        rounds += 1
    in_round = Counter(at for at, name in taken if at > begun and name.startswith("hostile"))
    assert max(in_round.values()) == 1
    assert in_round.total() <= 11, "one before each of its own"
    await asyncio.gather(*tasks)
    assert len(taken) == 21 * 10
    assert not hostile.busy


@pytest.mark.parametrize(("latest_s", "fewest", "most"), [(60.0, 0, 1), (0.0, 10, 100)])
async def test_no_step_is_taken_while_others_are_served_unless_it_is_late(
    monkeypatch: pytest.MonkeyPatch, latest_s: float, fewest: int, most: int
) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    monkeypatch.setattr(steps, "LATEST_S", latest_s)
    PACE.set(SharedPace())
    taken: list[int] = []

    def work() -> Steps[None]:
        for at in range(100):
            taken.append(at)
            yield

    await done(squares(3))
    paced = asyncio.create_task(done(work()))
    for _ in range(50):
        ends = time.monotonic() + 2 * steps.IDLE_S
        while time.monotonic() < ends:
            pass
        await asyncio.sleep(0)
    assert fewest <= len(taken) - 1 <= most
    await paced
    assert len(taken) == 100, "once nobody else is served, all are"


async def test_work_that_is_given_up_keeps_nobody_of_its_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    PACE.set(SharedPace())
    given_up, kept = (asyncio.create_task(done(squares(20))) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    assert await kept == at_once(squares(20))
    assert given_up.cancelled()
