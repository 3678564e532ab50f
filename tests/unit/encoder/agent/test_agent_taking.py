"""Programmes that come while the one before is being applied, or that cannot be kept."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.program import Program, ProgramDestination
from onair_crds.resources.enums import ConnectState
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent import program_file
from onair_encoder.agent.agent import Agent
from onair_encoder.encode.ffmpeg_command import ffmpeg_command

Command = list[str] | None


class Supervisor:
    """PID 1, whose first connection is made later than those that follow."""

    def __init__(self) -> None:
        self.runs: Command = None
        self.first_may_come = asyncio.Event()
        self.connections = 0

    async def want(self, command: Command) -> None:
        self.connections += 1
        if self.connections == 1:
            await self.first_may_come.wait()
        self.runs = command


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    supervisor = Supervisor()
    monkeypatch.setattr(agent_module, "want_pipeline", supervisor.want)
    return supervisor


@pytest.fixture
async def agent(tmp_path: Path, supervisor: Supervisor) -> AsyncIterator[Agent]:
    agent = Agent(tmp_path / "program.json")
    yield agent
    await agent.close()


async def test_the_programme_that_came_last_is_encoded_whatever_request_gets_through_first(
    agent: Agent, supervisor: Supervisor
) -> None:
    before, later = small_program(revision=1), with_framerate(small_program(revision=2), 25.0)
    assert ffmpeg_command(before) != ffmpeg_command(later)
    first = asyncio.create_task(agent.take(before))
    await until(lambda: supervisor.connections, "the first is being applied", poll_s=0)
    second = asyncio.create_task(agent.take(later))
    for _ in range(5):
        await asyncio.sleep(0)
    supervisor.first_may_come.set()
    await asyncio.gather(first, second)
    assert supervisor.runs == ffmpeg_command(later)
    assert agent.status().revision == 2


def with_framerate(program: Program, framerate: float) -> Program:
    video = program.video.model_copy(update={"framerate": framerate})
    return program.model_copy(update={"video": video})


async def test_a_programme_that_cannot_be_kept_is_on_air_all_the_same(
    agent: Agent, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(program_file, "store", full)
    supervisor.first_may_come.set()
    await agent.take(small_program(revision=1))
    assert supervisor.runs == ffmpeg_command(small_program(revision=1))
    assert (agent.status().phase, agent.status().revision) == ("starting", 1)


@pytest.mark.parametrize("url", ["https://page.example:80443/", "https://page.ex℀mple/"])
async def test_a_page_that_has_no_address_keeps_nothing_else_from_being_applied(
    agent: Agent, supervisor: Supervisor, tmp_path: Path, url: str
) -> None:
    supervisor.first_may_come.set()
    push = ProgramDestination(id="push", type="RTMP", url="rtmp://127.0.0.1:1/live")
    wanted = small_program(composition_url=url, page_token=SecretStr("t"), destinations=[push])
    await agent.take(wanted)
    restarted = Agent(tmp_path / "program.json")
    await restarted.resume()
    for each in (agent, restarted):
        assert each.page.origin is None
        assert [found.wanted.id for found in each.destinations] == ["push"]
    assert supervisor.runs == ffmpeg_command(wanted)
    await restarted.close()


async def test_a_programme_that_cannot_be_resumed_gives_way_to_the_next(
    agent: Agent, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("s3cret")

    supervisor.first_may_come.set()
    program_file.store(agent._path, small_program(revision=1))
    with monkeypatch.context() as patched:
        patched.setattr(agent.page, "want", broken)
        await agent.resume()
    assert agent.status().revision == 0, "as one that was never taken, so that it is sent again"
    said = capsys.readouterr().err
    assert "program.not-resumed" in said
    assert "s3cret" not in said
    await agent.take(small_program(revision=2))
    assert supervisor.runs == ffmpeg_command(small_program(revision=2))


async def test_a_destination_that_only_a_newer_encoder_knows_keeps_nothing_else_from_being_applied(
    agent: Agent, supervisor: Supervisor, tmp_path: Path
) -> None:
    supervisor.first_may_come.set()
    push = {"id": "push", "type": "RTMP", "url": "rtmp://127.0.0.1:1/live"}
    newer = {"id": "newer", "type": "WHIP", "generation": 2}
    wanted = {**json.loads(small_program(revision=1).wire()), "destinations": [newer, push]}
    await agent.take(Program.model_validate(wanted))
    restarted = Agent(tmp_path / "program.json")
    await restarted.resume()
    for each in (agent, restarted):
        states = {state.id: state for state in each.status().destinations}
        assert states.keys() == {"push", "newer"}
        assert (states["newer"].connect, states["newer"].generation) == (ConnectState.DISCONNECTED, 2)
        assert "another version" in (states["newer"].last_error or "")
    assert supervisor.runs == ffmpeg_command(small_program())
    await agent.take(Program.model_validate({**wanted, "revision": 2, "stop": True}))
    assert agent.status().phase == "stopping"
    await restarted.close()
