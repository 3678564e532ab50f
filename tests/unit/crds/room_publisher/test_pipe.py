"""What one side of the pipe encodes the other decodes."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import SecretStr
from tests.support.media.packets import VIDEO_HEADER, frame

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.flv import AUDIO, Packet
from onair_crds.room_publisher import pipe


async def test_the_process_decodes_what_the_agent_encodes() -> None:
    rtc = ProgramRtc(
        provider="livekit", url="wss://rooms.example", token=SecretStr("t"), room="r", identity="i"
    )
    packets = [VIDEO_HEADER, frame(b"\x41x", at_ms=2**33), Packet(AUDIO, 7, b"\xaf\x01abc")]
    reader = asyncio.StreamReader()
    reader.feed_data(pipe.settings_message(rtc) + b"".join(map(pipe.packet_message, packets)) + b"\x09cut")
    reader.feed_eof()
    assert await pipe.read_settings(reader) == rtc
    assert [packet async for packet in pipe.read_packets(reader)] == packets


@pytest.mark.parametrize(
    "message",
    [pipe.Joined(), pipe.SessionProgress(1, 2, 3, 4.5), pipe.Gone("why", permanent=True, displaced=True)],
)
def test_messages_are_decoded_as_they_were_encoded(message: pipe.Message) -> None:
    assert pipe.decode_message(pipe.encode_message(message)) == message


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b'{"kind": "Gone"}', b'{"kind": "Joined", "x": 1}'])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        pipe.decode_message(line)
