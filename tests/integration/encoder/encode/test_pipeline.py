"""One ffmpeg at a time, as the agent wants it; played by other programs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
from tests.support.settable_clock import SettableClock
from tests.support.sleepers import running, until_running
from tests.support.waiting import until

from onair_encoder.encode import client as client_module
from onair_encoder.encode import health as health_module
from onair_encoder.encode import pipeline as pipeline_module
from onair_encoder.encode.client import want_another_start, want_key_frame
from onair_encoder.encode.pipeline import Pipeline
from onair_encoder.encode.wall_clock import ClockSteps
from onair_encoder.process import child as child_module
from onair_encoder.process.child import Child

IGNORES_SIGINT = "trap '' INT; sleep 0.4; exec sleep {}"
LOOKS = 3
"""So many looks at the inputs are enough to see that they are the same."""


def command(number: int, started: Path = Path(os.devnull)) -> list[str]:
    """Sleeps for so many seconds, after it has noted its start in a file."""
    return ["sh", "-c", f"echo {number} >> {started}; {IGNORES_SIGINT.format(number)}"]


@pytest.fixture
async def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pipeline]:
    monkeypatch.setattr(pipeline_module, "LOOK_S", 0.02)
    monkeypatch.setattr(child_module, "STOP_TIMEOUT_S", 0.2)
    monkeypatch.setattr(health_module, "FRAME_TIMEOUT_S", 1.0)
    monkeypatch.setattr(pipeline_module, "START_GATE", tmp_path / "gate")
    pipeline = Pipeline()
    with contextlib.ExitStack() as servers:
        for name in ("X_SOCKET", "PULSE_SOCKET"):
            monkeypatch.setattr(pipeline_module, name, tmp_path / name)
            server = servers.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(str(tmp_path / name))
            server.listen(64)
        yield pipeline
        # A start that is under way when the loop ends would never end itself.
        await pipeline.want(None)


async def test_concurrent_requests_for_the_same_command_start_one(pipeline: Pipeline, tmp_path: Path) -> None:
    started = tmp_path / "started"
    await pipeline.want(command(86_401))
    await until_running(86_401)
    await asyncio.gather(*(pipeline.want(command(86_402, started)) for _ in range(3)))
    await until_running(86_402)
    assert running(86_401) == 0
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
        await until(lambda: last >= enough, "it has looked at its inputs", 5)

    monkeypatch.setattr(pipeline_module, "_inputs", counted)
    return wait


async def test_another_display_server_restarts_it(
    pipeline: Pipeline, tmp_path: Path, looked: Callable[[], Awaitable[None]]
) -> None:
    following = asyncio.create_task(pipeline.look_after())
    await pipeline.want(["sleep", "86405"])
    await until_running(86_405)
    # The process is there a little before it is known
    await until(lambda: pid_of(pipeline) > 0)
    child = pipeline._child
    assert child
    assert child.process
    first = child.process.pid
    await looked()
    assert child.process.pid == first, "the same server"
    (tmp_path / "X_SOCKET").unlink()
    await looked()
    assert child.process.pid == first, "there is nothing to film yet"
    (tmp_path / "X_SOCKET").touch()
    await until(lambda: child.process and child.process.pid != first, "it is another process", 5)
    await pipeline.want(None)
    following.cancel()


@pytest.mark.parametrize("by_s", [3600.0, -2.5])
async def test_another_time_of_the_day_restarts_it_and_a_clock_that_is_slewed_does_not(
    pipeline: Pipeline,
    looked: Callable[[], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
    by_s: float,
) -> None:
    monkeypatch.setattr(health_module, "FRAME_TIMEOUT_S", 10.0)
    ahead = SettableClock(1_000_000.0)
    pipeline._clock_steps = ClockSteps(ahead)
    following = asyncio.create_task(pipeline.look_after())
    await pipeline.want(["sh", "-c", ENCODES])
    first = await until_encoding(pipeline)
    for _ in range(3):
        ahead.now += 0.1
        await looked()
    assert pid_of(pipeline) == first
    ahead.now += by_s
    await until(lambda: pid_of(pipeline) != first, "it is another process", 5)
    second = await until_encoding(pipeline)
    await looked()
    assert pid_of(pipeline) == second, "once"
    assert pipeline._health.failures == 0
    following.cancel()


ENCODES = "i=0; while :; do i=$((i+1)); printf 'frame=%d\\nprogress=continue\\n' $i; sleep 0.05; done"
LOOPS = "while :; do printf 'frame=0\\nprogress=continue\\n'; sleep 0.05; done"


def pid_of(pipeline: Pipeline) -> int:
    assert pipeline._child
    return pipeline._child.process.pid if pipeline._child.process else 0


async def until_encoding(pipeline: Pipeline) -> int:
    """The process that encodes, once it has encoded something."""
    before = pipeline._progress.now.frames
    await until(lambda: pipeline._progress.now.frames > before, "it encodes", 10)
    return pid_of(pipeline)


async def test_one_that_is_silent_is_replaced(pipeline: Pipeline) -> None:
    looking = asyncio.create_task(pipeline.look_after())
    await pipeline.want(["sh", "-c", ENCODES])
    first = await until_encoding(pipeline)
    os.kill(first, signal.SIGSTOP)
    await until(lambda: pid_of(pipeline) != first, "it is another process", 5)
    assert await until_encoding(pipeline) != first
    assert pipeline._health.failures == 1
    looking.cancel()


@pytest.mark.parametrize("command", ["exit 1", LOOPS], ids=["ends again and again", "loops"])
async def test_one_that_is_beyond_help_is_given_up(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(health_module, "FIRST_FRAME_TIMEOUT_S", 0.3)
    monkeypatch.setattr(pipeline_module, "MAX_FAILURES", 3)
    await pipeline.want(["sh", "-c", command])
    async with asyncio.timeout(10):
        await pipeline.look_after()
    assert pipeline._health.failures == 3


async def test_one_whose_display_is_gone_is_not_to_blame(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket that a killed X server leaves behind refuses."""
    deaf = tmp_path / "deaf"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(deaf))
    monkeypatch.setattr(pipeline_module, "X_SOCKET", deaf)
    await pipeline.want(["sh", "-c", "exit 1"])
    await until(lambda: pipeline._child and pipeline._child.restarts >= 3, "it was restarted three times", 10)
    assert pipeline._health.failures == 0


async def test_one_whose_sound_server_accepts_no_connection_is_given_up(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that hangs does, once as many wait as may: then the kernel has each of them try again."""
    monkeypatch.setattr(pipeline_module, "MAX_FAILURES", 3)
    hanging = tmp_path / "hanging"
    monkeypatch.setattr(pipeline_module, "PULSE_SOCKET", hanging)
    with contextlib.ExitStack() as sockets:
        server = sockets.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(str(hanging))
        server.listen(0)
        waiting = sockets.enter_context(socket.socket(socket.AF_UNIX))
        waiting.connect(str(hanging))
        await pipeline.want(["sh", "-c", "exit 1"])
        async with asyncio.timeout(10):
            await pipeline.look_after()
        # Before the next start is due
        await pipeline.want(None)
    assert pipeline._health.failures == 3


class OneRefusal:
    """Fails once as the kernel does for a moment, and then does what it stands for."""

    def __init__(self, error: int, does: Callable[..., Any]) -> None:
        self.refused = 0
        self._error, self._does = error, does

    def __call__(self, *given: Any) -> Any:
        if self.refused:
            return self._does(*given)
        self.refused += 1
        raise OSError(self._error, os.strerror(self._error))


@pytest.mark.parametrize(
    ("of", "name", "error", "failures"),
    [(os, "mkfifo", errno.ENOSPC, 2), (socket, "socket", errno.ENOBUFS, 0)],
    ids=["ahead of a start", "after an end"],
)
async def test_a_momentary_refusal_of_the_kernel_ends_nothing(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, of: Any, name: str, error: int, failures: int
) -> None:
    await pipeline.want(["sh", "-c", ENCODES])
    first = await until_encoding(pipeline)
    refusal = OneRefusal(error, getattr(of, name))
    if of is socket:
        of = SimpleNamespace(socket=socket.socket, AF_UNIX=socket.AF_UNIX)
        monkeypatch.setattr(pipeline_module, "socket", of)
    monkeypatch.setattr(of, name, refusal)
    os.kill(first, signal.SIGKILL)
    await until(lambda: pid_of(pipeline) != first, "it is another process", 5)
    await until_encoding(pipeline)
    assert refusal.refused
    # A display that cannot be asked may be gone: then the end was not ffmpeg's fault
    assert pipeline._health.failures == failures


async def test_one_that_never_starts_is_given_up(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_module, "FIRST_FRAME_TIMEOUT_S", 0.1)
    monkeypatch.setattr(pipeline_module, "MAX_FAILURES", 3)
    pipeline._child = Child("never", ["sleep", "86410"])
    pipeline._inputs = pipeline_module._inputs()
    pipeline._health.started()
    async with asyncio.timeout(10):
        await pipeline.look_after()
    pipeline._child = None
    assert pipeline._health.failures == 3


STARTS = f"printf '[info]   Duration: N/A, start: %s.250000\\n' $(date +%s); sleep 1; {ENCODES}"


async def captured_at(pipeline: Pipeline) -> float:
    """When the present one takes its first capture, once that is known."""
    return await until(lambda: pipeline._progress.now.captured_at, "it captures", 5)


async def taken(request: object, folder: Path) -> None:
    """Sends a request; returns once PID 1 has taken it."""
    reader, writer = await asyncio.open_unix_connection(str(folder / "requests"))
    writer.write(json.dumps(request).encode() + b"\n")
    writer.write_eof()
    await reader.read()
    writer.close()
    await writer.wait_closed()


@pytest_asyncio.fixture
async def served(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pipeline]:
    """One that takes requests, and is just starting."""
    monkeypatch.setattr(client_module, "SUPERVISOR_SOCKET", tmp_path / "requests")
    server = await asyncio.start_unix_server(pipeline.serve, tmp_path / "requests")
    await pipeline.want(["sh", "-c", STARTS])
    yield pipeline
    server.close()


async def test_one_that_is_to_start_again_does_so_once_and_is_not_to_blame(
    served: Pipeline, tmp_path: Path
) -> None:
    asked = await captured_at(served)
    first = pid_of(served)
    await want_another_start(asked - 1)
    await want_another_start(asked)
    await until(lambda: pid_of(served) != first, "it is another process", 5)
    later = await captured_at(served)
    second = await until_encoding(served)
    await taken({"again": later}, tmp_path)
    assert await until_encoding(served) == second, "a request that comes too late changes nothing"
    assert served._health.failures == 0


async def test_one_that_encodes_is_restarted_for_a_key_frame_once_and_is_not_to_blame(
    served: Pipeline, tmp_path: Path
) -> None:
    asked = await captured_at(served)
    first = await until_encoding(served)
    await want_key_frame(asked)
    await until(lambda: pid_of(served) != first, "it is another process", 5)
    second = await until_encoding(served)
    await taken({"restart": asked}, tmp_path)
    assert await until_encoding(served) == second, "the request was for the one before"
    assert served._health.failures == 0


@pytest.mark.parametrize("given", [{"other": 1}, {"again": None}, {"restart": 1.0}], ids=str)
async def test_a_request_that_makes_no_sense_changes_nothing(
    pipeline: Pipeline, given: dict[str, object], tmp_path: Path
) -> None:
    server = await asyncio.start_unix_server(pipeline.serve, tmp_path / "requests")
    await pipeline.want(["sh", "-c", ENCODES])
    first = await until_encoding(pipeline)
    await taken(given, tmp_path)
    assert await until_encoding(pipeline) == first
    server.close()


async def test_an_ffmpeg_that_is_just_starting_is_looked_after_though_its_inputs_are_others(
    pipeline: Pipeline,
) -> None:
    """There is none to kill yet, and no look would count any more."""
    pipeline._inputs = ("display", "sound")
    pipeline._kill_blameless(Child("starting", ["sleep", "86408"]))
    assert pipeline._inputs == ("display", "sound")
