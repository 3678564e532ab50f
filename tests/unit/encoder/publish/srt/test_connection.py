"""What a session's reports say about its progress."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_crds.contract.inside_addresses import EVERYWHERE
from onair_crds.contract.push_addresses import SrtAddress
from onair_encoder.publish.srt import sender_process
from onair_encoder.publish.srt.connection import SrtConnection
from onair_encoder.publish.srt.libsrt import PAYLOAD_BYTES
from onair_encoder.publish.srt.sender_messages import SenderReport

ACCEPTED = 1000


class Listening:
    """In place of a session of libsrt's, with so many packets under way, and so many dropped."""

    over = False

    def __init__(self, pending: int, dropped: int) -> None:
        self._progress = SimpleNamespace(pending=pending, dropped=dropped, pending_ms=0, rtt_ms=20.0)

    def progress(self) -> SimpleNamespace:
        return self._progress


def reported(monkeypatch: pytest.MonkeyPatch, pending: int, dropped: int) -> SenderReport:
    """What a sender reports of such a session."""
    reports: list[SenderReport] = []

    def report(**values: Any) -> None:
        reports.append(cast(SenderReport, values))
        sender._ended.set()

    monkeypatch.setattr(sender_process, "SrtSocket", lambda: Listening(pending, dropped))
    monkeypatch.setattr(sender_process, "report", report)
    sender = sender_process.SrtSender(io.BufferedReader(io.BytesIO(json.dumps({}).encode())))
    sender._accepted = ACCEPTED
    sender._report(10.0, 0.0)
    return reports[0]


@pytest.mark.parametrize(
    ("pending", "dropped", "idle"), [(0, 0, True), (0, 3, True), (2, 0, False), (2, 3, False)]
)
async def test_a_session_is_idle_if_nothing_is_under_way_whatever_was_dropped(
    monkeypatch: pytest.MonkeyPatch, pending: int, dropped: int, *, idle: bool
) -> None:
    """Packets that libsrt dropped, as they came too late, are never acknowledged."""
    connection = SrtConnection(SrtAddress.of("srt://a.example:9000", None), None, 200, EVERYWHERE)
    connection.written = ACCEPTED * PAYLOAD_BYTES
    assert not connection.idle
    connection._report = reported(monkeypatch, pending, dropped)
    assert connection.idle == idle
    assert connection.acknowledged == (ACCEPTED - pending - dropped) * PAYLOAD_BYTES
