"""Joining a room, and what becomes of its process when that fails or is no longer wanted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onair_crds.contract.program import ProgramDestination, ProgramRtc
from onair_crds.room_publisher.pipe import Gone, Message
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtc.output import RtcOutput
from onair_encoder.publish.supplied_destination import SuppliedDestination

RTC = ProgramRtc(provider="livekit", url="wss://rooms.example", token="t", room="r", identity="i")


class RecordingRoomClient:
    """Keeps a list of what is asked of a room's process; without a message it is still joining."""

    def __init__(self, message: Message | None = None) -> None:
        self.steps: list[str] = []
        self.joining = asyncio.Event()
        self._message = message

    async def message(self) -> Message:
        self.joining.set()
        if self._message is None:
            await asyncio.Event().wait()
        assert self._message
        return self._message

    async def finish(self) -> None:
        self.steps.append("finish")

    async def close(self) -> None:
        self.steps.append("close")


def output_of(monkeypatch: pytest.MonkeyPatch, client: RecordingRoomClient) -> RtcOutput:
    async def start(_: ProgramRtc) -> Any:
        return client

    monkeypatch.setattr(RoomClient, "start", start)
    wanted = ProgramDestination(id="d", type="RTC", rtc=RTC, timeout_ms=1000)
    return RtcOutput(SuppliedDestination(wanted, FanOut(), lambda: None))


@pytest.mark.parametrize(
    ("stopped", "steps"), [(True, ["finish", "close"]), (False, ["close"])], ids=["stopped", "aborted"]
)
async def test_a_room_that_is_being_joined_is_left_properly_where_there_is_time(
    monkeypatch: pytest.MonkeyPatch, stopped: bool, steps: list[str]
) -> None:
    client = RecordingRoomClient()
    output = output_of(monkeypatch, client)
    opening = asyncio.create_task(output.open())
    await client.joining.wait()
    if stopped:
        output.destination.stop.set()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert client.steps == steps


async def test_a_refusal_is_reported_and_its_process_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    client = RecordingRoomClient(Gone("rooms.example:443: the token is refused", permanent=True))
    with pytest.raises(SessionError, match="the token is refused") as error:
        await output_of(monkeypatch, client).open()
    assert error.value.permanent
    assert client.steps == ["close"]
