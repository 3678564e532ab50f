"""Run and epoch come to an agent with its first programme, and stay, through a restart of the agent too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.support.small_program import small_program

from onair_crds.contract.program import Program, ProgramDestination, ProgramStorage
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import Agent, ProgramRefused
from onair_encoder.publish import operator_contact
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.destination_publisher import DestinationPublisher

Started = Callable[[], Agent]


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


async def test_an_agent_has_no_run_before_its_first_programme(started: Started) -> None:
    agent = started()
    await agent.resume()
    status = agent.status()
    assert (status.phase, status.broadcast, status.epoch) == ("idle", None, 0)


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (small_program(epoch=2, revision=9), "epoch 2 is over: 3 is known"),
        (small_program(epoch=3, revision=4), "revision 4 is over: 5 is known"),
        (small_program(epoch=3, revision=9, broadcast="other"), "of broadcast run of project show"),
        (small_program(epoch=3, revision=9, project="other"), "of broadcast run of project show"),
    ],
)
async def test_the_first_programme_binds_an_agent_and_every_later_one_of_the_pod(
    started: Started, later: Program, why: str
) -> None:
    agent = started()
    await agent.take(small_program(epoch=3, revision=5))
    restarted = started()
    await restarted.resume()
    for each in (agent, restarted):
        status = each.status()
        assert (status.broadcast, status.epoch, status.revision) == ("run", 3, 5)
        with pytest.raises(ProgramRefused, match=why):
            await each.take(later)
        assert each.status().revision == 5


async def test_a_restarted_agent_takes_the_next_revision_and_the_next_epoch(started: Started) -> None:
    await started().take(small_program(epoch=3, revision=5))
    agent = started()
    await agent.resume()
    await agent.take(small_program(epoch=3, revision=6))
    await agent.take(small_program(epoch=4, revision=1))
    assert (agent.status().epoch, agent.status().revision) == (4, 1)


async def test_an_encoder_that_has_yielded_stays_away_through_a_restart_and_takes_nothing(
    started: Started, tmp_path: Path
) -> None:
    agent = started()
    await agent.take(small_program(epoch=3, revision=5))
    await asyncio.gather(agent.yield_place(), agent.yield_place())
    assert not (tmp_path / "program.json").exists(), "its keys are gone"
    restarted = started()
    await restarted.resume()
    for each in (agent, restarted):
        assert each.status().phase == "yielded"
        with pytest.raises(ProgramRefused, match="has yielded"):
            await each.take(small_program(epoch=3, revision=6))


async def test_an_encoder_that_is_ending_its_streams_yields_at_once(started: Started) -> None:
    agent = started()
    await agent.take(small_program())
    await agent.take(small_program(revision=1, stop=True))
    await agent.yield_place()
    await asyncio.sleep(0)
    assert agent.status().phase == "yielded"


async def test_an_encoder_whose_pod_is_deleted_goes_on_until_the_operator_has_spoken(
    started: Started,
) -> None:
    for word, phase in (("stop", "finished"), ("yield", "yielded")):
        agent = started()
        await agent.take(small_program())
        leaving = asyncio.create_task(agent.leave())
        await asyncio.sleep(0)
        assert not leaving.done()
        await (agent.take(small_program(revision=1, stop=True)) if word == "stop" else agent.yield_place())
        async with asyncio.timeout(5):
            await leaving
        assert agent.status().phase == phase


async def test_an_encoder_that_nobody_wants_or_reaches_leaves_at_once(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = started()
    out_of_touch = started()
    await out_of_touch.take(small_program())
    monkeypatch.setattr(operator_contact, "LOST_AFTER_S", -1.0)
    async with asyncio.timeout(1):
        await asyncio.gather(idle.leave(), out_of_touch.leave())
    assert out_of_touch.status().phase == "starting"


async def test_an_operator_that_says_nothing_is_not_waited_for_for_long(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "WORD_S", 0.05)
    agent = started()
    await agent.take(small_program())
    async with asyncio.timeout(2):
        await agent.leave()
    assert agent.status().phase == "starting"


async def test_what_still_ends_as_the_pod_is_deleted_has_no_more_time_than_streams_have(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = started()
    await agent.take(small_program(stop=True))
    hurried = asyncio.Event()
    monkeypatch.setattr(agent._delivery, "hurry", hurried.set)
    await agent.leave()
    assert hurried.is_set()
    assert agent.status().phase == "finished"


async def test_where_nobody_says_how_it_ends_recordings_are_closed_and_the_rest_at_once(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    async def finish(publisher: DestinationPublisher) -> None:
        happened.append(f"finish {publisher.destination.wanted.id}, hurry {publisher.destination.hurry}")

    monkeypatch.setattr(agent_module, "WORD_S", 0.05)
    monkeypatch.setattr(DestinationPublisher, "finish", finish)
    monkeypatch.setattr(
        DestinationPublisher, "abort", lambda it: happened.append(f"abort {it.destination.wanted.id}")
    )
    agent = started()
    push = ProgramDestination(id="push", type="RTMP", url="rtmp://127.0.0.1:1/live")
    await agent.take(small_program(destinations=[push, hls("live", vod=False), hls("recording", vod=True)]))
    async with asyncio.timeout(2):
        await agent.leave()
    assert happened == ["abort push", "abort live", "finish recording, hurry True"]
    monkeypatch.undo()


def hls(id_: str, *, vod: bool) -> ProgramDestination:
    storage = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret", vod=vod)
    return ProgramDestination(id=id_, type="HLS", storage=storage)


async def test_an_agent_that_is_restarted_while_it_drains_ends_the_recordings_alone(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[list[str] | str] = []

    async def finish(_: Delivery) -> None:
        happened.append("finish")

    monkeypatch.setattr(Delivery, "want", lambda _, them, *__: happened.append([each.id for each in them]))
    monkeypatch.setattr(Delivery, "finish", finish)
    push = ProgramDestination(id="push", type="RTMP", url="rtmp://a.example/live")
    destinations = [push, hls("live", vod=False), hls("recording", vod=True)]
    agent = started()
    await agent.take(small_program(destinations=destinations))
    await agent.take(small_program(destinations=destinations, revision=1, stop=True))
    restarted = started()
    await restarted.resume()
    assert restarted.status().phase == "stopping"
    async with asyncio.timeout(5):
        await restarted.changes.until(lambda: restarted.status().phase == "finished")
    assert happened[0] == ["push", "live", "recording"]
    assert happened.index(["recording"]) > 0
    assert happened[-1] == "finish"
