"""What a session's reports say about its progress, and when frames are dropped by them."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_crds.contract.inside_addresses import EVERYWHERE
from onair_crds.contract.push_addresses import SrtAddress
from onair_encoder.publish.srt import connection as srt_connection
from onair_encoder.publish.srt import sender_process
from onair_encoder.publish.srt.connection import MAX_PENDING_BYTES, SrtConnection
from onair_encoder.publish.srt.libsrt import BUFFER_PACKETS, PAYLOAD_BYTES
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


async def opened(monkeypatch: pytest.MonkeyPatch, latency_ms: int) -> SrtConnection:
    """A connection whose sender has a session of this latency."""
    line = json.dumps({"connected": True, "latency_ms": latency_ms})
    program = f"import sys; print({line!r}, flush=True); sys.stdin.read()"
    monkeypatch.setattr(srt_connection, "COMMAND", [sys.executable, "-S", "-c", program])
    connection = SrtConnection(SrtAddress.of("srt://127.0.0.1:9000", None), None, 200, EVERYWHERE)
    await connection.open()
    return connection


@pytest.mark.parametrize(
    ("latency_ms", "congested_ms", "relieved_ms"),
    [(120, 700, 200), (1000, 700, 200), (1700, 1400, 400), (4500, 4200, 1200)],
)
async def test_frames_may_wait_for_as_long_as_libsrt_keeps_them(
    monkeypatch: pytest.MonkeyPatch, latency_ms: int, congested_ms: int, relieved_ms: int
) -> None:
    """libsrt keeps packets for the agreed latency, and for a second at least."""
    connection = await opened(monkeypatch, latency_ms)
    try:
        for pending_ms in (0, relieved_ms - 1, relieved_ms, congested_ms, congested_ms + 1):
            connection._report = SenderReport(pending_ms=pending_ms)
            assert connection.relieved == (pending_ms < relieved_ms)
            assert connection.congested == (pending_ms > congested_ms)
    finally:
        connection.abort()


async def test_what_is_under_way_anyway_keeps_no_frames_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audio, which continues, is pending for a round trip however well the session goes."""
    connection = await opened(monkeypatch, 1000)
    try:
        connection._report = SenderReport(pending_ms=450, rtt_ms=400.0)
        assert connection.relieved
        connection._report = SenderReport(pending_ms=450, rtt_ms=200.0)
        assert not connection.relieved
    finally:
        connection.abort()


async def test_frames_are_dropped_before_the_buffer_of_libsrt_is_full() -> None:
    """Where it is, not even audio gets into it."""
    connection = SrtConnection(SrtAddress.of("srt://a.example:9000", None), None, 200, EVERYWHERE)
    connection._writer = cast(
        Any, SimpleNamespace(transport=SimpleNamespace(get_write_buffer_size=lambda: 0))
    )
    most = MAX_PENDING_BYTES // PAYLOAD_BYTES
    assert most < 0.8 * BUFFER_PACKETS
    for pending, congested, relieved in (
        (most + 1, True, False),
        (most // 2, False, False),
        (9, False, True),
    ):
        connection._report = SenderReport(accepted=ACCEPTED + pending, settled=ACCEPTED)
        assert (connection.congested, connection.relieved) == (congested, relieved)
