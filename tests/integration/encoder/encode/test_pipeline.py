"""One ffmpeg at a time, as the agent wants it; played by other programs."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from onair_encoder.encode import pipeline as pipeline_module
from onair_encoder.encode.pipeline import Pipeline
from onair_encoder.process import child as child_module

IGNORES_SIGINT = "trap '' INT; sleep 0.4; exec sleep {}"
LOOKS = 3
"""So many looks at the inputs are enough to see that they are the same."""


def command(number: int, started: Path = Path(os.devnull)) -> list[str]:
    """Sleeps for so many seconds, after it has noted its start in a file."""
    return ["sh", "-c", f"echo {number} >> {started}; {IGNORES_SIGINT.format(number)}"]


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
        monkeypatch.setattr(pipeline_module, name, tmp_path / name)
    monkeypatch.setattr(pipeline_module, "INPUTS_POLL_S", 0.02)
    monkeypatch.setattr(child_module, "STOP_TIMEOUT_S", 0.2)
    pipeline = Pipeline()
    yield pipeline
    # A start that is under way when the loop ends would never end itself.
    await pipeline.want(None)


async def until_running(number: int, count: int = 1) -> None:
    async with asyncio.timeout(10):
        while running(number) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_concurrent_requests_for_the_same_command_start_one(pipeline: Pipeline, tmp_path: Path) -> None:
    started = tmp_path / "started"
    await pipeline.want(command(86_401))
    await until_running(86_401)
    await asyncio.gather(*(pipeline.want(command(86_402, started)) for _ in range(3)))
    await until_running(86_402)
    assert (running(86_401), running(86_402)) == (0, 1)
    await pipeline.want(None)
    await until_running(86_402, 0)
    assert started.read_text().split() == ["86402"], "none was started beside it"


async def test_the_last_request_counts(pipeline: Pipeline) -> None:
    await pipeline.want(command(86_403))
    await until_running(86_403)
    await asyncio.gather(*(pipeline.want(each) for each in (command(86_404), command(86_403))))
    await until_running(86_403)
    await until_running(86_404, 0)
    await asyncio.gather(pipeline.want(command(86_404)), pipeline.want(None))
    await until_running(86_403, 0)
    await until_running(86_404, 0)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Awaitable[None]]:
    """Waits until the pipeline has looked at its inputs several times more."""
    looks, look = itertools.count(), pipeline_module._inputs
    last = 0

    def counted() -> tuple[object, ...]:
        nonlocal last
        last = next(looks)
        return look()

    async def wait() -> None:
        enough = last + LOOKS
        async with asyncio.timeout(5):
            while last < enough:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    monkeypatch.setattr(pipeline_module, "_inputs", counted)
    return wait


async def test_another_display_server_restarts_it(
    pipeline: Pipeline, looked: Callable[[], Awaitable[None]]
) -> None:
    following = asyncio.create_task(pipeline.follow_inputs())
    await pipeline.want(["sleep", "86405"])
    await until_running(86_405)
    child = pipeline._child
    assert child
    assert child.process
    first = child.process.pid
    await looked()
    assert child.process.pid == first, "the same server"
    pipeline_module.X_SOCKET.unlink()
    await looked()
    assert child.process.pid == first, "there is nothing to film yet"
    pipeline_module.X_SOCKET.touch()
    async with asyncio.timeout(5):
        while child.process.pid == first:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await pipeline.want(None)
    following.cancel()
