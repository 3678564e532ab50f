"""How often an encoder that does not respond is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
from tests.support.worlds import pod

from onair_crds.contract.program import EncoderStatus
from onair_operator.encoder import client as module
from onair_operator.encoder.client import STARTING_S, EncoderClient
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.encoder.unreachable import EncoderUnreachable


class SilentConnection:
    """Responds to nothing, but for the statuses that the test gives it, one each time it is asked."""

    def __init__(self, *_: object) -> None:
        self.told: list[EncoderStatus] = []

    async def statuses(self) -> AsyncIterator[EncoderStatus]:
        if self.told:
            yield self.told.pop()
        raise EncoderUnreachable("connection refused")

    async def put_program(self, *_: object) -> None:
        raise EncoderUnreachable("connection refused")

    put_contact = put_program

    async def close(self) -> None:
        pass


class RetryPauses:
    """Those between attempts; the clock is theirs."""

    def __init__(self, enough_s: float) -> None:
        self.now_s = 0.0
        self.all_s: list[float] = []
        self.enough = asyncio.Event()
        self._enough_s = enough_s

    async def sleep(self, pause_s: float) -> None:
        self.all_s.append(pause_s)
        self.now_s += pause_s
        if self.now_s > self._enough_s:
            self.enough.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)


async def pauses_s(monkeypatch: pytest.MonkeyPatch, enough_s: float, *told: EncoderStatus) -> list[float]:
    pauses, connection = RetryPauses(enough_s), SilentConnection()
    connection.told += told
    monkeypatch.setattr(module, "EncoderConnection", lambda *_: connection)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: pauses.now_s))
    monkeypatch.setattr(module, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": pauses.sleep}))
    client = EncoderClient(pod(ip="127.0.0.1"), "", OperatorKey.generate(), lambda: None)
    async with asyncio.timeout(10):
        await pauses.enough.wait()
    await client.close()
    return pauses.all_s


async def test_an_encoder_that_starts_is_asked_five_times_a_second_for_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await pauses_s(monkeypatch, STARTING_S + 30)
    assert found[:3] == [0.1, pytest.approx(0.15), 0.2]
    assert sum(pause_s <= 0.2 for pause_s in found) == pytest.approx(STARTING_S * 5, abs=3)
    assert found[-1] == 2.0


async def test_one_that_has_been_heard_is_asked_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await pauses_s(monkeypatch, 20, EncoderStatus(phase="running", broadcast="run", epoch=1))
    assert found[0] == 0.1
    assert sum(pause_s < 1 for pause_s in found) < 8
    assert found[-1] == 2.0
