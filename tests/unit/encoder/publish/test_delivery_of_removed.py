"""What destinations that are no longer wanted have yet to store is said, and so is what nobody will store."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.slow_storage import BACKLOG_S, SlowStorage, stores_to
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.program import EncoderStatus, ProgramDestination
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import Agent
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.destination_kinds import KINDS

RECORDING = ProgramDestination(id="archive", type="HLS")


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> SlowStorage:
    storage = SlowStorage()
    monkeypatch.setitem(KINDS, "HLS", stores_to(storage))
    return storage


async def with_a_backlog() -> Delivery:
    """One of which a recording was removed that is behind."""
    delivery = Delivery(FanOut(), lambda: None)
    delivery.want([RECORDING])
    await until(lambda: delivery.states[0].waiting_s, "a backlog", 10)
    delivery.want([])
    return delivery


async def test_a_removed_recording_waits_until_it_is_stored(storage: SlowStorage) -> None:
    delivery = await with_a_backlog()
    assert (delivery.states, delivery.removed_waiting_s) == ([], BACKLOG_S)
    storage.available.set()
    await delivery.finish()
    assert delivery.removed_waiting_s == 0.0


async def test_what_waits_of_a_wanted_recording_is_not_counted_twice(storage: SlowStorage) -> None:
    delivery = Delivery(FanOut(), lambda: None)
    delivery.want([RECORDING])
    await until(lambda: delivery.states[0].waiting_s, "a backlog", 10)
    assert delivery.removed_waiting_s == 0.0
    await delivery.close()


async def test_what_waits_when_another_encoder_takes_over_is_logged_with_its_destination(
    storage: SlowStorage, capsys: pytest.CaptureFixture[str]
) -> None:
    delivery = await with_a_backlog()
    await delivery.close()
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "destination.not-stored" in each]
    assert '"id": "archive"' in line
    assert f'"waiting_s": {BACKLOG_S}' in line


async def test_an_encoder_that_is_stopping_says_that_it_drains_a_removed_recording(
    storage: SlowStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def no_pipeline(command: list[str] | None) -> None:
        return

    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    agent = Agent(tmp_path / "program.json")
    await agent.take(small_program(destinations=[RECORDING]))
    await until(lambda: agent.status().destinations[0].waiting_s, "a backlog", 10)
    await agent.take(small_program(revision=1))
    await agent.take(small_program(revision=2, stop=True))
    status = EncoderStatus.model_validate_json(agent.status().wire())
    assert (status.phase, status.destinations) == ("stopping", [])
    assert status.draining
    assert status.only_drains
    storage.available.set()
    await until(lambda: agent.status().phase == "finished", "finished", 10)
    assert not agent.status().draining
    await agent.close()
