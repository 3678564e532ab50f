"""A child that cannot be started is retried."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from tests.support.sleepers import running, until_running

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
