"""A child that cannot be started is retried."""

from __future__ import annotations

import asyncio
from pathlib import Path

from onair_encoder.process.child import Child


def running(number: int) -> int:
    """Processes of a command that have come to sleep or are about to."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        found += text.endswith(f"sleep {number}\0".encode()) or text == f"sleep\0{number}\0".encode()
    return found


async def until_running(number: int, count: int = 1) -> None:
    async with asyncio.timeout(10):
        while running(number) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_program_that_cannot_be_started_is_retried(tmp_path: Path) -> None:
    program = tmp_path / "program"
    failed = asyncio.Event()
    child = Child("late", [str(program)], on_end=failed.set)
    child.start()
    await asyncio.wait_for(failed.wait(), 10)
    program.write_text("#!/bin/sh\nexec sleep 86406\n")
    program.chmod(0o755)
    await until_running(86_406)
    await child.stop()
    assert running(86_406) == 0
