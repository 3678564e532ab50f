"""A page that does not get ready in time: the show runs on the slate, and ends at its time like any other."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.clock_pair import ClockPair
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.times import format_time
from onair_crds.resources.enums import BroadcastError
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent import stop_time as stop_time_module
from onair_encoder.agent.agent import Agent
from onair_encoder.encode.progress import EncodeProgress


@pytest.fixture
async def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agent]:
    """One that encodes a page which is not ready, and has the slate on air."""

    async def no_pipeline(_: list[str] | None) -> None:
        return

    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    agent = Agent(tmp_path / "program.json")
    agent.encode_progress.now = EncodeProgress(frames=30)
    agent.switch.on_slate = True
    yield agent
    await agent.close()


async def test_a_show_whose_page_is_late_runs_on_the_slate_once_its_time_is_over(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    await agent.take(small_program(page_timeout_ms=20_000))
    now[0] += 19.9
    agent._tick()
    assert agent.status().phase == "starting"
    now[0] += 0.2
    agent._tick()
    status = agent.status()
    assert (status.phase, status.on_slate) == ("running", True)
    assert status.first_frame, "its longest duration counts from then"


async def test_it_ends_at_its_time_though_the_page_never_came(agent: Agent) -> None:
    await agent.take(small_program(page_timeout_ms=1))

    def begun() -> bool:
        agent._tick()
        return agent.status().phase != "starting"

    await until(begun, "the show begins", 10)
    over = format_time(dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1))
    await agent.take(small_program(page_timeout_ms=1, revision=1, stop_at=over))
    agent._tick()
    async with asyncio.timeout(10):
        await agent.changes.until(lambda: agent.status().phase == "finished")
    assert agent.status().error is BroadcastError.DURATION_EXCEEDED


async def test_it_stays_on_air_where_the_wall_clock_is_set(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = ClockPair()
    monkeypatch.setattr(stop_time_module, "time", clocks)
    over = format_time(dt.datetime.fromtimestamp(clocks.time() + 8 * 3600, dt.UTC))
    await agent.take(small_program(stop_at=over))
    clocks.set_wall(9 * 3600)
    agent._tick()
    await agent.take(small_program(revision=1, stop_at=over))
    agent._tick()
    assert agent.status().error is None
    clocks.go_on(8 * 3600)
    agent._tick()
    assert agent.status().error is BroadcastError.DURATION_EXCEEDED
