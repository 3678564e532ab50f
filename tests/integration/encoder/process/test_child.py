"""A child that cannot be started is retried."""

from __future__ import annotations

import asyncio
from pathlib import Path

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
