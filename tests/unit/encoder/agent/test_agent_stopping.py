"""An agent is stopped without a programme that says so, and stays stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.support.slow_storage import BACKLOG_S, SlowStorage, stores_to
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination, ProgramStorage
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import Agent
from onair_encoder.publish.destination_kinds import KINDS

Started = Callable[[], Agent]
BUCKET = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret", vod=True)
RECORDING = ProgramDestination(id="archive", type="HLS", storage=BUCKET)


@pytest.fixture
async def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Started]:
    """Starts an agent of one pod, again and again, in a container where nothing encodes."""

    async def no_pipeline(command: list[str] | None) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    agents: list[Agent] = []

    def start() -> Agent:
        agents.append(Agent(tmp_path / "program.json"))
        return agents[-1]

    yield start
    for agent in agents:
        await agent.close()


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> SlowStorage:
    storage = SlowStorage()
    monkeypatch.setitem(KINDS, "HLS", stores_to(storage))
    return storage


async def finished(agent: Agent) -> None:
    async with asyncio.timeout(5):
        await agent.changes.until(lambda: agent.status().phase == "finished")


async def test_it_stores_what_waits_of_its_recordings(started: Started, storage: SlowStorage) -> None:
    agent = started()
    await agent.take(small_program(destinations=[RECORDING], revision=3))
    await until(lambda: agent.status().destinations[0].waiting_s, "a backlog", 10)
    await asyncio.gather(agent.stop(), agent.stop())
    status = agent.status()
    assert (status.phase, status.revision, status.error) == ("stopping", 3, None)
    assert status.destinations[0].waiting_s == BACKLOG_S
    storage.available.set()
    await finished(agent)


async def test_it_stays_stopped_through_a_restart_and_whatever_programme_comes_late(
    started: Started,
) -> None:
    agent = started()
    await agent.take(small_program(revision=3))
    await agent.stop()
    await agent.take(small_program(revision=4))
    restarted = started()
    await restarted.resume()
    await restarted.take(small_program(revision=5))
    again = started()
    await again.resume()
    for each in (agent, restarted, again):
        await finished(each)


async def test_its_pods_deletion_waits_no_longer_than_for_a_stop(started: Started) -> None:
    agent = started()
    await agent.take(small_program())
    leaving = asyncio.create_task(agent.leave())
    await asyncio.sleep(0)
    await agent.stop()
    async with asyncio.timeout(2):
        await leaving
    assert agent.status().phase == "finished"


async def test_one_that_has_no_programme_may_get_one_that_says_what_it_has_to_store(
    started: Started, storage: SlowStorage
) -> None:
    agent = started()
    await agent.stop()
    assert agent.status().phase == "idle"
    await agent.take(small_program(destinations=[RECORDING], stop=True))
    assert [each.wanted.id for each in agent.destinations] == ["archive"]
    storage.available.set()
    await finished(agent)


async def test_one_that_has_yielded_keeps_no_programme_of_its_stop(started: Started, tmp_path: Path) -> None:
    agent = started()
    await agent.take(small_program())
    await agent.yield_place()
    await agent.stop()
    assert agent.status().phase == "yielded"
    assert not (tmp_path / "program.json").exists()
