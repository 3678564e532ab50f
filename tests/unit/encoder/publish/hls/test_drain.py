"""When the storing of what waits is given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.support.delivery.hand_clock import HandClock
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.hls import drain as drain_module
from onair_encoder.publish.hls.bytes_taken import BytesTaken
from onair_encoder.publish.hls.drain import DrainTerms, drain
from onair_encoder.publish.supplied_destination import SuppliedDestination

RECORDING, LIVE = DrainTerms(8.0, 600.0, 30.0), DrainTerms(8.0, 8.0, 30.0)


@pytest.mark.parametrize(
    ("terms", "passed_s", "still_s", "over"),
    [
        (RECORDING, 5.0, 5.0, False),
        (RECORDING, 29.0, 29.0, False),
        (RECORDING, 31.0, 31.0, True),
        (RECORDING, 500.0, 3.0, False),
        (RECORDING, 598.0, 0.0, True),
        (LIVE, 5.9, 0.0, False),
        (LIVE, 6.0, 0.0, True),
    ],
)
def test_a_recording_is_drained_while_something_is_stored(
    terms: DrainTerms, passed_s: float, still_s: float, over: bool
) -> None:
    assert terms.is_over(passed_s, still_s, hurry=False) is over


def test_there_is_no_more_than_the_least_time_where_the_pod_is_being_deleted() -> None:
    assert not RECORDING.is_over(5.9, 0.0, hurry=True)
    assert RECORDING.is_over(6.0, 0.0, hurry=True)


class DrainedByHand:
    """The time of one recording's rest, by a clock that stands still but for what a test lets pass."""

    def __init__(self) -> None:
        wanted = ProgramDestination(id="archive", type="HLS")
        self.destination = SuppliedDestination(wanted, FanOut(), lambda: None)
        self.taken, self.closing, self.clock = BytesTaken(), asyncio.Event(), HandClock()
        self.task = asyncio.create_task(
            drain(self.destination, self.taken, self.closing, RECORDING, self.clock)
        )


@pytest.fixture
async def drained(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DrainedByHand]:
    monkeypatch.setattr(drain_module, "LOOK_S", 0.001)
    drained = DrainedByHand()
    yield drained
    drained.task.cancel()
    await asyncio.gather(drained.task, return_exceptions=True)


async def test_a_segment_may_take_minutes_while_the_storage_takes_bytes_of_it(drained: DrainedByHand) -> None:
    await drained.clock.passes(0)
    for look in range(1, 10):
        drained.taken.note("one.ts", 1000, look)
        await drained.clock.passes(20)
    assert not drained.closing.is_set()
    drained.destination.sent(1000)
    await drained.clock.passes(20)
    assert not drained.closing.is_set()


async def test_a_storage_that_takes_no_more_bytes_of_it_is_given_up(drained: DrainedByHand) -> None:
    await drained.clock.passes(0)
    for _ in range(2):
        drained.taken.note("one.ts", 1000, 500)
        await drained.clock.passes(20)
    drained.clock.advance(15)
    await until(drained.closing.is_set, "given up", 10, poll_s=0.001)
