"""A programme is handed over until it is acknowledged, whatever the clocks and the encoder's responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.support.worlds import PROGRAM

from onair_crds.contract.program import Program
from onair_operator.encoder.program_push import (
    ProgramPush,
    ProgramRefused,
    RevisionStale,
    digest,
)
from onair_operator.encoder.unreachable import EncoderUnreachable

AHEAD_S, BEHIND_S = 1_000_005.0, 1_000_000.0
"""The clocks of two operators, 5 s apart."""
STOP = PROGRAM.model_copy(update={"stop": True})


class RevisionEncoder:
    """Takes programmes as an encoder does: none of an earlier revision than it knows."""

    def __init__(self) -> None:
        self.revision = 0
        self.taken: list[Program] = []
        self.attempts = 0
        self.fails: Exception | None = None

    async def put(self, program: Program) -> None:
        self.attempts += 1
        if self.fails:
            raise self.fails
        if program.revision < self.revision:
            raise RevisionStale(self.revision)
        self.revision = program.revision
        self.taken.append(program)


class PushingOperator:
    def __init__(self, encoder: RevisionEncoder, clock_s: float = BEHIND_S) -> None:
        self.changes = 0
        self.leads = True
        self.push = ProgramPush("show-run-1", encoder.put, self._changed, lambda: self.leads, lambda: clock_s)
        self.task = asyncio.create_task(self.push.run())

    def _changed(self) -> None:
        self.changes += 1

    async def wants(self, program: Program) -> None:
        self.push.want(program)
        await turns()


async def turns(number: int = 50) -> None:
    """Lets everything happen that waits for no clock."""
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.fixture
def encoder() -> RevisionEncoder:
    return RevisionEncoder()


@pytest.fixture
async def operator(encoder: RevisionEncoder) -> AsyncIterator[PushingOperator]:
    operator = PushingOperator(encoder)
    yield operator
    operator.task.cancel()


async def test_a_programme_is_pushed_once_under_a_growing_revision(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    for program in (PROGRAM, PROGRAM, STOP):
        await operator.wants(program)
    assert [program.stop for program in encoder.taken] == [False, True]
    assert encoder.taken[0].revision < encoder.taken[1].revision
    assert operator.push.pushed == digest(STOP)
    assert operator.changes == 2


async def test_an_acknowledged_programme_is_not_settled_while_another_is_wanted(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    await operator.wants(PROGRAM)
    assert operator.push.settled == digest(PROGRAM)
    operator.push.want(STOP)
    assert operator.push.settled is None
    operator.push.want(PROGRAM)
    await turns()
    assert operator.push.settled == digest(PROGRAM)
    assert len(encoder.taken) == 1


@pytest.mark.parametrize("reported", [True, False])
async def test_a_leader_whose_clock_is_behind_takes_the_revision_on(
    encoder: RevisionEncoder, reported: bool
) -> None:
    before = PushingOperator(encoder, AHEAD_S)
    await before.wants(PROGRAM)
    before.task.cancel()
    after = PushingOperator(encoder, BEHIND_S)
    if reported:
        after.push.reported(encoder.revision, reconnected=True)
    for program in (STOP, PROGRAM):
        await after.wants(program)
    after.task.cancel()
    assert [program.stop for program in encoder.taken] == [False, True, False]
    assert after.push.pushed == digest(PROGRAM)
    assert encoder.attempts == (3 if reported else 4)


async def test_a_programme_that_was_lost_or_replaced_by_another_operator_is_pushed_again(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    await operator.wants(PROGRAM)
    for revision in (0, encoder.revision + 7000):
        encoder.revision = revision
        assert operator.push.reported(revision, reconnected=False)
        assert operator.push.pushed is None
        await turns()
        assert operator.push.pushed == digest(PROGRAM)
    assert len(encoder.taken) == 3
    assert not operator.push.reported(encoder.revision, reconnected=False)


async def test_a_refusal_is_told_once_and_not_retried_at_every_look(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    encoder.fails = ProgramRefused("HTTP 400: not a program")
    for _ in range(20):
        await operator.wants(PROGRAM)
    assert (encoder.attempts, operator.changes) == (1, 1)
    assert operator.push.refused == "HTTP 400: not a program"
    assert operator.push.pushed is None
    encoder.fails = None
    await operator.wants(STOP)
    assert operator.push.refused is None
    assert encoder.taken[0].stop


async def test_what_is_wanted_no_more_is_no_longer_refused(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    await operator.wants(PROGRAM)
    encoder.fails = ProgramRefused("HTTP 400: not a program")
    await operator.wants(STOP)
    assert operator.push.refused
    await operator.wants(PROGRAM)
    assert operator.push.refused is None
    assert encoder.attempts == 2


async def test_an_encoder_that_is_back_gets_its_programme_at_once(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    encoder.fails = EncoderUnreachable("connection refused")
    await operator.wants(PROGRAM)
    encoder.fails = None
    operator.push.reported(0, reconnected=True)
    await turns()
    assert len(encoder.taken) == 1


async def test_what_an_encoder_never_got_is_not_pushed_once_it_is_replaced(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    encoder.fails = EncoderUnreachable("connection refused")
    await operator.wants(PROGRAM)
    operator.push.forget()
    encoder.fails = None
    operator.push.reported(0, reconnected=True)
    await turns()
    assert encoder.taken == []


async def test_nothing_is_pushed_by_an_operator_that_does_not_lead_at_the_moment(
    encoder: RevisionEncoder, operator: PushingOperator
) -> None:
    operator.leads = False
    await operator.wants(PROGRAM)
    assert encoder.attempts == 0
    operator.leads = True
    operator.push.reported(0, reconnected=True)
    await turns()
    assert len(encoder.taken) == 1
