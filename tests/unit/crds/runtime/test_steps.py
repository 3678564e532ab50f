"""Work that others have their turns in."""

from __future__ import annotations

import asyncio

import pytest

from onair_crds.runtime import steps
from onair_crds.runtime.steps import Steps, at_once, done


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
