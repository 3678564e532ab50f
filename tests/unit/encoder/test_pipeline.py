"""Process 1 and its children, with real processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from onair_encoder.encode import container as encoder_container
from onair_encoder.encode.container import Pipeline
from onair_encoder.process import supervise
from onair_encoder.process.supervise import Child

IGNORES_SIGINT = "trap '' INT; sleep 0.4; exec sleep {}"


def command(number: int) -> list[str]:
    return ["sh", "-c", IGNORES_SIGINT.format(number)]


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


@pytest.fixture
async def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pipeline]:
    for name in ("X_SOCKET", "PULSE_SOCKET"):
        (tmp_path / name).touch()
        monkeypatch.setattr(encoder_container, name, tmp_path / name)
    monkeypatch.setattr(encoder_container, "LOOK_S", 0.02)
    monkeypatch.setattr(supervise, "STOP_TIMEOUT_S", 0.2)
    pipeline = Pipeline()
    yield pipeline
    # A start that is under way when the loop ends would never end itself.
    await pipeline.want(None)


async def until_running(number: int, count: int = 1) -> None:
    async with asyncio.timeout(10):
        while running(number) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_two_who_want_the_same_at_once_get_one(pipeline: Pipeline) -> None:
    await pipeline.want(command(86_401))
    await until_running(86_401)
    await asyncio.gather(*(pipeline.want(command(86_402)) for _ in range(3)))
    await until_running(86_402)
    await asyncio.sleep(0.3)
    assert (running(86_401), running(86_402)) == (0, 1)
    await pipeline.want(None)
    await until_running(86_402, 0)


async def test_who_asked_last_counts(pipeline: Pipeline) -> None:
    await pipeline.want(command(86_403))
    await until_running(86_403)
    await asyncio.gather(*(pipeline.want(each) for each in (command(86_404), command(86_403))))
    await until_running(86_403)
    await until_running(86_404, 0)
    await asyncio.gather(pipeline.want(command(86_404)), pipeline.want(None))
    await until_running(86_403, 0)
    await until_running(86_404, 0)


async def test_another_display_server_starts_it_again(pipeline: Pipeline) -> None:
    following = asyncio.create_task(pipeline.follow_inputs())
    await pipeline.want(["sleep", "86405"])
    await until_running(86_405)
    child = pipeline._child
    assert child
    assert child.process
    first = child.process.pid
    await asyncio.sleep(0.1)
    assert child.process.pid == first, "the same server"
    encoder_container.X_SOCKET.unlink()
    await asyncio.sleep(0.1)
    assert child.process.pid == first, "there is nothing to film yet"
    encoder_container.X_SOCKET.touch()
    async with asyncio.timeout(5):
        while child.process.pid == first:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await pipeline.want(None)
    following.cancel()


async def test_a_program_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    program = tmp_path / "program"
    child = Child("late", [str(program)])
    child.start()
    await asyncio.sleep(0.2)
    program.write_text("#!/bin/sh\nexec sleep 86406\n")
    program.chmod(0o755)
    await until_running(86_406)
    await child.stop()
    assert running(86_406) == 0
