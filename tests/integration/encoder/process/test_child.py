"""A child that cannot be started is retried, and nothing beside it ends that."""

from __future__ import annotations

import asyncio
import errno
import itertools
import sys
import threading
from pathlib import Path

import pytest
from tests.support.sleepers import running, until_running
from tests.support.waiting import until

from onair_encoder.process.child import Child


async def test_a_program_that_cannot_be_started_is_retried(tmp_path: Path) -> None:
    program = tmp_path / "program"
    failed = asyncio.Event()
    child = Child("late", [str(program)], on_end=failed.set)
    child.start()
    async with asyncio.timeout(10):
        await failed.wait()
    program.write_text("#!/bin/sh\nexec sleep 86406\n")
    program.chmod(0o755)
    await until_running(86_406)
    await child.stop()
    assert running(86_406) == 0


async def test_a_program_that_no_thread_can_wait_for_is_ended_and_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page of the container may have taken all threads that there may be."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    failed = asyncio.Event()
    lines: list[str] = []
    child = Child("sleeper", ["sleep", "86407"], on_end=failed.set, on_line=lines.append)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        child.start()
        async with asyncio.timeout(10):
            await failed.wait()
        assert running(86_407) == 0
    await until_running(86_407)
    await child.stop()
    assert running(86_407) == 0


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), ValueError()],
    ids=["no space", "an error of its own"],
)
async def test_what_comes_before_a_start_is_tried_again(error: Exception) -> None:
    """As where a folder has no space for a moment."""
    refusals = 2
    ended: list[None] = []

    async def before() -> None:
        nonlocal refusals
        if refusals:
            refusals -= 1
            raise error

    child = Child("refused", ["sleep", "86409"], before=before, on_end=lambda: ended.append(None))
    child.start()
    await until_running(86_409)
    assert len(ended) == 2
    await child.stop()
    assert running(86_409) == 0


async def test_who_cannot_take_the_end_of_a_program_does_not_keep_it_from_its_next_start() -> None:
    ends = itertools.count()

    def on_end() -> None:
        if next(ends) < 2:
            raise OSError(errno.ENOBUFS, "No buffer space available")

    child = Child("quick", ["true"], on_end=on_end)
    child.start()
    await until(lambda: child.restarts >= 3, "it was restarted three times", 10)
    await child.stop()


async def test_a_line_that_cannot_be_taken_keeps_neither_the_next_nor_a_restart_away() -> None:
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        raise ValueError(line)

    child = Child("talker", [sys.executable, "-c", "print('one\\ntwo')"], on_line=on_line)
    child.start()
    await until(lambda: child.restarts >= 2, "it was restarted", 10)
    await child.stop()
    assert lines[:4] == ["one", "two"] * 2


async def test_who_is_told_of_a_start_may_fail_and_is_told_of_the_next_one() -> None:
    told: list[int] = []

    def take(process: int) -> None:
        told.append(process)
        raise OSError("too many open files")

    child = Child("sleeper", ["sleep", "86412"], on_start=take)
    child.start()
    await until_running(86_412)
    await until(lambda: child.process and told == [child.process.pid], "the first start")
    assert child.kill()
    await until(lambda: len(told) == 2, "the second one")
    await child.stop()
    assert running(86_412) == 0
