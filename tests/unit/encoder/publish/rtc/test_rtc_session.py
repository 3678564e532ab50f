"""Who is to blame where a room makes no progress: its server, or a machine that is busy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import cast

import pytest

from onair_crds.contract.program import ProgramDestination, ProgramRtc
from onair_crds.media.flv import AUDIO, Packet
from onair_crds.room_publisher.pipe import Message, SessionProgress
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.room_publisher.video_flow import Rejoining
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtc import rtc_session as session_module
from onair_encoder.publish.rtc.rtc_session import RtcSession
from onair_encoder.publish.supplied_destination import SuppliedDestination

RTC = ProgramRtc(provider="livekit", url="wss://rooms.example", token="t", room="r", identity="i")


class ReportingRoomClient:
    """A process that reports what a test wants, after so many seconds each; then it is silent."""

    unsent = 0

    def __init__(self, reports: Iterable[tuple[float, int]], fan_out: FanOut) -> None:
        """
        Args:
            reports: seconds since the last, and the count of responses.
        """
        self.now_s = 100.0
        self._reports = iter(reports)
        self._fan_out = fan_out
        self.last = asyncio.Event()

    def monotonic(self) -> float:
        return self.now_s

    async def message(self) -> Message:
        for wait_s, responses in self._reports:
            self.now_s += wait_s
            self._fan_out.put(Packet(AUDIO, round(self.now_s * 1000), b"\xaf\x01\x21"))
            return SessionProgress(video_bytes=1, sent_bytes=1, responses=responses)
        self.last.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.now_s += 0.5
        raise AssertionError

    def write(self, data: bytes) -> None:
        """Takes it."""

    async def finish(self) -> None:
        """Ends."""


async def outcome(monkeypatch: pytest.MonkeyPatch, reports: list[tuple[float, int]], *, stop: bool) -> str:
    """The error of the session, if it has one before it is stopped after the last report."""
    fan_out = FanOut()
    destination = SuppliedDestination(
        ProgramDestination(id="d", type="RTC", rtc=RTC, timeout_ms=1000), fan_out, lambda: None
    )
    client = ReportingRoomClient(reports, fan_out)
    monkeypatch.setattr(session_module, "time", SimpleNamespace(monotonic=client.monotonic))
    monkeypatch.setattr(session_module, "LOOK_S", session_module.LOOK_S if stop else 0.001)
    session = RtcSession(destination, cast("RoomClient", client), Rejoining(), "rooms.example:443")
    running = asyncio.create_task(session.run())
    if stop:
        last = asyncio.create_task(client.last.wait())
        await asyncio.wait({running, last}, return_when=asyncio.FIRST_COMPLETED)
        last.cancel()
        destination.stop.set()
    try:
        await running
    except SessionError as error:
        return str(error)
    return ""


async def test_a_server_that_sends_nothing_back_has_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [(0.25, 1), (0.25, 2), *[(0.25, 2)] * 6]
    words = await outcome(monkeypatch, reports, stop=True)
    assert words == "stalled: rooms.example:443 sent nothing back for 1000 ms"


@pytest.mark.parametrize("late_s", [1.5, 60.0])
async def test_reports_that_are_late_say_nothing_against_the_server(
    monkeypatch: pytest.MonkeyPatch, late_s: float
) -> None:
    reports = [(0.25, 1), (0.25, 2), (late_s, 2), (0.25, 3), (late_s, 3), (0.25, 4)]
    assert not await outcome(monkeypatch, reports, stop=True)


async def test_a_process_that_reports_nothing_any_more_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "SILENT_S", 0.01)
    words = await outcome(monkeypatch, [(0.25, 1), (0.25, 2)], stop=False)
    assert words == "the publishing process does not respond"
