"""Measures CPU and memory of delivery: by a process of ours, and by ffmpeg for comparison."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.support.delivery import delivery_process
from tests.support.processes import children_of

SETTLE_S, MEASURE_S = 3.0, 8.0
TICKS = os.sysconf("SC_CLK_TCK")

PROGRAMME = [
    *("ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30"),
    *("-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000", "-t", "10"),
    *("-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-pix_fmt", "yuv420p"),
    *("-b:v", "3M", "-maxrate", "3M", "-bufsize", "3M", "-x264-params", "nal-hrd=cbr"),
    *("-g", "60", "-keyint_min", "60", "-sc_threshold", "0", "-c:a", "aac", "-b:a", "128k", "-ac", "2"),
]
COPY = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i"]


@pytest.fixture(scope="module")
def programme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of ten seconds, 1280×720@30, 3 Mbit/s, to be sent in a loop."""
    file = tmp_path_factory.mktemp("programme") / "programme.flv"
    subprocess.run([*PROGRAMME, file], check=True)
    return file


class DeliveryProcess:
    """Runs delivery_process.py, which delivers a file to the wanted destinations."""

    def __init__(self, programme: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, delivery_process.__file__, programme],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def want(self, *destinations: dict[str, str]) -> float:
        """Sets the destinations; returns when they were passed to the delivery, seconds of the wall clock."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(destinations) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if not line.startswith("{"):
                return float(line)
        raise AssertionError("the process ended")

    def processes(self) -> list[int]:
        """Returns the pids of the process and its senders, without the ffmpeg that plays the encoder."""
        return [self._process.pid, *(p for p in children_of(self._process.pid) if "ffmpeg" not in command(p))]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(10)
        finally:
            self._process.kill()


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def cpu_s(pids: list[int]) -> float:
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(f[11]) + int(f[12]) for f in fields) / TICKS


def memory_mb(pids: list[int]) -> float:
    """Returns the proportional set size: shared pages are counted in parts."""
    rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
    return sum(int(r.partition("\nPss:")[2].split()[0]) for r in rollups) / 1024


def cost(pids: Callable[[], list[int]]) -> tuple[float, float]:
    """Measures CPU in percent of a core, and memory in megabytes."""
    time.sleep(SETTLE_S)
    before, at = cpu_s(pids()), time.monotonic()
    time.sleep(MEASURE_S)
    return 100 * (cpu_s(pids()) - before) / (time.monotonic() - at), memory_mb(pids())


@contextlib.contextmanager
def running(*commands: Sequence[str | Path]) -> Iterator[list[int]]:
    started = [subprocess.Popen(each, stderr=subprocess.DEVNULL) for each in commands]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
