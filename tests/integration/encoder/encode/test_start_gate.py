"""ffmpeg opens the screen when a paint is on it; the gate waits for ffmpeg, and for nobody else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest
from tests.support.waiting import until

from onair_encoder.encode import start_gate as start_gate_module
from onair_encoder.encode.paint import capture_at_ms, capture_phase_s, reduced_tick_us
from onair_encoder.encode.start_gate import OPENING_S, StartGate

RATE = Fraction(30)
STARTS = 5
NEAR_S = 0.001


def opened_at(gate: Path) -> list[str]:
    """An ffmpeg that has two inputs, one after the other; the second is made at once."""
    picture = ["-f", "lavfi", "-i", "color=s=16x16:d=0.1"]
    return [
        *("ffmpeg", "-hide_banner", "-nostdin", "-f", "ffmetadata", "-i", str(gate)),
        *(*picture, "-map", "1:v", "-f", "null", "-"),
    ]


async def test_it_opens_in_step_with_paints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[float] = []

    def close(pipe: int) -> None:
        moments.append(time.monotonic() + OPENING_S)
        os.close(pipe)

    monkeypatch.setattr(start_gate_module, "close", close)
    gate = StartGate(tmp_path / "gate")
    for number in range(STARTS):
        gate.close(RATE)
        process = await asyncio.create_subprocess_exec(
            *opened_at(tmp_path / "gate"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        assert len(moments) == number + 1
    off_s = [
        abs(capture_phase_s(each, reduced_tick_us(RATE)) - capture_at_ms(RATE) / 1000) for each in moments
    ]
    assert median(off_s) < NEAR_S


async def test_a_program_that_does_not_come_leaves_nothing(tmp_path: Path) -> None:
    gate = StartGate(tmp_path / "gate")
    for _ in range(2):
        gate.close(RATE)
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()
    gate.forget()
    await until(lambda: len(asyncio.all_tasks()) == 1)
