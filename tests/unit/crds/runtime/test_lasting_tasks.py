"""Tasks that run beside a program: what the death of one says, and what does not count as one."""

from __future__ import annotations

import asyncio

import pytest

from onair_crds.runtime.lasting_tasks import LastingTasks


async def let_others_run() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def until(end: asyncio.Event) -> None:
    await end.wait()


async def dies() -> None:
    raise LookupError("key=secret")


async def test_one_that_dies_is_told_by_its_name_and_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tasks, end = LastingTasks(), asyncio.Event()
    tasks.start(until(end), "lasting")
    await let_others_run()
    assert tasks.alive
    tasks.start(dies(), "redis")
    await let_others_run()
    assert not tasks.alive
    said = capsys.readouterr().out
    assert "redis" in said
    assert "LookupError" in said
    assert "secret" not in said
    await tasks.stop()


async def test_who_ends_or_is_stopped_has_not_died() -> None:
    tasks, ends, lasts = LastingTasks(), asyncio.Event(), asyncio.Event()
    tasks.start(until(ends), "ends")
    tasks.start(until(lasts), "lasts")
    ends.set()
    await let_others_run()
    await tasks.stop()
    assert tasks.alive
