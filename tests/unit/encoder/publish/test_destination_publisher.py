"""Sessions one after another, with back-off in between."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

import pytest
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish import destination_publisher as publisher_module
from onair_encoder.publish.backoff import Backoff
from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.operator_contact import LOST_AFTER_S, OperatorContact
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.supplied_destination import SuppliedDestination

WANTED = ProgramDestination(id="d", type="RTMP", url="rtmp://a.example/live", timeout_ms=1000)


def publisher_of(kind: type[Output], contact: OperatorContact | None = None) -> DestinationPublisher:
    run = EncoderRun("run", 1, contact or OperatorContact())
    return DestinationPublisher(kind, WANTED, FanOut(), lambda: None, run)


class RecordingOutput(Output):
    """Keeps a list of what is done with it and with its sessions."""

    def __init__(self, destination: SuppliedDestination) -> None:
        super().__init__(destination)
        self.steps: list[str] = []

    async def begin(self) -> None:
        self.steps.append("begin")

    async def open(self) -> DeliverySession:
        self.steps.append("open")
        return self

    async def run(self) -> None:
        self.destination.connected()
        await self.destination.stop.wait()
        self.steps.append("run")

    async def conclude(self) -> None:
        self.steps.append("conclude")

    async def close(self) -> None:
        self.steps.append("close")


def steps_of(publisher: DestinationPublisher) -> list[str]:
    output = publisher._output
    assert isinstance(output, RecordingOutput)
    return output.steps


async def test_an_output_outlives_its_sessions_and_concludes_after_them() -> None:
    publisher = publisher_of(RecordingOutput)
    await until(lambda: publisher.destination.is_connected)
    assert publisher.destination.counters.sessions == 1
    await publisher.finish()
    assert steps_of(publisher) == ["begin", "open", "run", "close", "conclude", "close"]


async def test_an_output_is_closed_when_it_is_aborted() -> None:
    publisher = publisher_of(RecordingOutput)
    await until(lambda: publisher.destination.is_connected)
    publisher.abort()
    await asyncio.gather(publisher._task, return_exceptions=True)
    assert steps_of(publisher) == ["begin", "open", "close", "close"]


class ClosesSlowly(RecordingOutput):
    """At its very end, until it is let."""

    def __init__(self, destination: SuppliedDestination) -> None:
        super().__init__(destination)
        self.may_close = asyncio.Event()

    async def close(self) -> None:
        await super().close()
        if self.steps.count("close") == 2:
            await self.may_close.wait()
            self.steps.append("closed")


async def test_an_output_that_is_aborted_again_is_closed_to_its_end() -> None:
    """As one in whose place two others begin, or whose time is over just then."""
    publisher = publisher_of(ClosesSlowly)
    await until(lambda: publisher.destination.is_connected)
    publisher.abort()
    await until(lambda: steps_of(publisher).count("close") == 2)
    publisher.abort()
    output = publisher._output
    assert isinstance(output, ClosesSlowly)
    output.may_close.set()
    await publisher.ended()
    assert steps_of(publisher)[-1] == "closed"


class OpensWhateverHappens(RecordingOutput):
    async def open(self) -> DeliverySession:
        self.steps.append("opening")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.steps.append("opened")
        return self


async def test_a_session_that_opens_while_it_is_stopped_is_closed() -> None:
    publisher = publisher_of(OpensWhateverHappens)
    await until(lambda: "opening" in steps_of(publisher))
    await publisher.finish()
    assert steps_of(publisher) == ["begin", "opening", "opened", "close", "conclude", "close"]


class BrokenOutput(RecordingOutput):
    async def begin(self) -> None:
        raise ValueError("rtmp://a.example/s3cret")


async def test_an_internal_error_is_reported_without_its_text() -> None:
    publisher = publisher_of(BrokenOutput)
    await until(lambda: publisher.destination.state.last_error)
    assert publisher.destination.state.last_error == "internal error (ValueError)"
    assert steps_of(publisher) == ["close"]


class RefusedOutput(Output):
    """Attempts that take longer than a session must hold to count as steady, and never open one."""

    def __init__(self, destination: SuppliedDestination) -> None:
        super().__init__(destination)
        self.attempts: list[float] = []

    async def open(self) -> DeliverySession:
        self.attempts.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.03)
        raise SessionError("no response")


async def test_attempts_without_a_session_do_not_reset_the_back_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher_module, "STEADY_S", 0.02)
    monkeypatch.setattr(random, "uniform", lambda _, high: high)
    publisher = publisher_of(RefusedOutput)
    refused = publisher._output
    assert isinstance(refused, RefusedOutput)
    await until(lambda: len(refused.attempts) >= 5)
    publisher.abort()
    gaps = [b - a for a, b in pairwise(refused.attempts)]
    assert all(gap >= wait_s for gap, wait_s in zip(gaps, (0.1, 0.2, 0.4, 0.8), strict=False))


class LosableContact(OperatorContact):
    """Contact by a clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__(lambda: self.now_s)

    def lose(self) -> None:
        self.now_s += LOST_AFTER_S + 1


class EndingOutput(Output):
    """Sessions that end with the same error as soon as they are connected."""

    error = SessionError("closed", closed_by_peer=True)

    async def open(self) -> DeliverySession:
        return self

    async def run(self) -> None:
        self.destination.connected()
        raise self.error


class Stalling(EndingOutput):
    error = SessionError("stalled")


class Displaced(EndingOutput):
    error = SessionError("somebody else is there", displaced=True)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of the usual back-off are as short as their jitter allows."""
    monkeypatch.setattr(random, "uniform", lambda low, _: low)


def attempts(publisher: DestinationPublisher) -> int:
    return publisher.destination.state.attempts


async def waits(publisher: DestinationPublisher, why: str) -> None:
    await until(lambda: publisher.destination.state.last_error == why)


@pytest.mark.usefixtures("at_once")
async def test_what_the_far_side_closes_is_left_to_it_while_the_operator_is_out_of_touch() -> None:
    contact = LosableContact()
    contact.lose()
    publisher = publisher_of(EndingOutput, contact)
    await waits(publisher, "closed; retried after 30 s, as the operator is out of touch")
    assert attempts(publisher) == 1
    publisher.retry_now()
    await waits(publisher, "closed; retried after 60 s, as the operator is out of touch")
    contact.heard()
    await until(lambda: attempts(publisher) > 20)
    contact.lose()
    await waits(publisher, "closed; retried after 30 s, as the operator is out of touch")
    publisher.abort()


@pytest.mark.usefixtures("at_once")
async def test_an_operator_that_is_away_changes_nothing_about_a_network_that_fails() -> None:
    contact = LosableContact()
    contact.lose()
    publisher = publisher_of(Stalling, contact)
    await until(lambda: attempts(publisher) > 20)
    publisher.abort()


@pytest.mark.usefixtures("at_once")
async def test_who_was_displaced_comes_back_only_after_the_operator_was_in_touch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[bool] = []

    def next_s(_: Backoff, *, permanent: bool) -> float:
        pauses.append(permanent)
        return 3600.0

    monkeypatch.setattr(Backoff, "next_s", next_s)
    contact = LosableContact()
    reports: list[str | None] = []
    publisher = publisher_of(Displaced, contact)
    publisher.destination._changed = lambda: reports.append(publisher.destination.state.last_error)
    why = "somebody else is there; retried when the operator is in touch"
    await waits(publisher, why)
    assert (attempts(publisher), pauses) == (1, [])
    contact.heard()
    await until(lambda: pauses == [True])
    assert attempts(publisher) == 1
    publisher.retry_now()
    await until(lambda: attempts(publisher) == 2)
    await until(lambda: reports.count(why) == 2)
    assert set(reports) == {why, None}, "it says the same in all pauses"
    publisher.abort()


async def test_a_displaced_destination_can_be_stopped() -> None:
    publisher = publisher_of(Displaced)
    await until(lambda: publisher.destination.state.last_error)
    async with asyncio.timeout(5):
        await publisher.finish()
    assert publisher._task.done()
