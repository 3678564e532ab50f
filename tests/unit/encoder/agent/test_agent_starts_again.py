"""An ffmpeg that was late is started again, where that costs the show nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.small_program import small_program

from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import MOST_STARTS_AGAIN, Agent
from onair_encoder.encode.paint import next_capture_s
from onair_encoder.encode.progress import EncodeProgress

LATE_S = 0.006


async def judged() -> None:
    """Waits until the agent has looked, once it is known whether the first capture alone was late."""
    await asyncio.sleep(0.02)


@dataclass
class Starting:
    agent: Agent
    asked: list[float] = field(default_factory=list)

    async def captures(self, late_s: float, frames: int = 0) -> float:
        """The first capture of another ffmpeg is due this late; in Unix seconds."""
        due_s = next_capture_s(time.monotonic(), Fraction(30)) + late_s
        captured_at = due_s - time.monotonic() + time.time()
        self.agent.encode_progress._take(EncodeProgress(frames=frames))
        self.agent.encode_progress._take(EncodeProgress(frames=frames, captured_at=captured_at))
        await judged()
        return captured_at


@pytest.fixture
async def starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Starting]:
    starting = Starting(Agent(tmp_path / "program.json"))

    async def again(captured_at: float) -> None:
        starting.asked.append(captured_at)

    async def no_pipeline(command: list[str] | None) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(agent_module, "want_another_start", again)
    monkeypatch.setattr(agent_module, "CORRECTED_S", 0.001)
    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    await starting.agent.take(small_program())
    yield starting
    await starting.agent.close()


async def test_a_late_one_is_started_again_and_one_in_step_is_not(starting: Starting) -> None:
    late = await starting.captures(LATE_S)
    await starting.captures(0)
    assert starting.asked == [late]


async def test_where_all_are_late_one_is_left(starting: Starting) -> None:
    asked = [await starting.captures(LATE_S) for _ in range(MOST_STARTS_AGAIN + 2)]
    assert starting.asked == asked[:MOST_STARTS_AGAIN]


async def test_a_first_capture_whose_lateness_is_known_later_is_judged_by_that(starting: Starting) -> None:
    late = await starting.captures(0.001)
    progress = starting.agent.encode_progress
    corrected = replace(progress.now, captured_at=late - LATE_S, first_late_s=LATE_S)
    progress._take(corrected)
    await judged()
    assert starting.asked == [corrected.captured_at]


async def test_one_whose_first_capture_alone_was_late_goes_on(
    starting: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "CORRECTED_S", 60)
    progress = starting.agent.encode_progress
    due_s = next_capture_s(time.monotonic(), Fraction(30))
    taken_at = due_s + LATE_S - time.monotonic() + time.time()
    progress._take(EncodeProgress(captured_at=taken_at))
    assert not starting.agent.captures_in_step
    await judged()
    waiting = starting.agent._starting_again
    progress._take(replace(progress.now, captured_at=taken_at - LATE_S, first_late_s=LATE_S))
    await judged()
    assert starting.asked == []
    assert waiting
    assert waiting.cancelled()


async def test_nothing_that_is_on_air_is_started_again(starting: Starting) -> None:
    """By its phase; after a restart of the agent by the frames; and where the page is ready."""
    await starting.captures(LATE_S, frames=30)
    starting.agent.page._browser.loaded = True
    await starting.captures(LATE_S)
    starting.agent.page._browser.loaded = False
    starting.agent._phase = "running"
    await starting.captures(LATE_S)
    assert starting.asked == []
