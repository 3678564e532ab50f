"""A session in a room of a real LiveKit server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from livekit.rtc._proto import video_frame_pb2
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.waiting import until

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.stream_metadata import VideoFormat
from onair_crds.room_publisher import livekit_room
from onair_crds.room_publisher.livekit_room import LiveKitRoom
from onair_crds.room_publisher.room_providers import Frame
from onair_crds.session_error import SessionError

pytestmark = pytest.mark.media
SLICE = b"\0\0\0\1\x65" + 200 * b"slice"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path) as server:
        yield server


async def _send(session: LiveKitRoom) -> None:
    while True:
        session.video(Frame(SLICE, True, 320, 180), time.monotonic_ns() // 1000)
        await asyncio.sleep(1 / 30)


async def _flows(session: LiveKitRoom) -> bool:
    return (await session.progress()).frames_sent > 10


@pytest.mark.parametrize(
    ("codec", "outcome"),
    [("H264", nullcontext()), ("VP8", pytest.raises(SessionError, match="took the video for VP8"))],
)
async def test_a_session_goes_on_with_h264_alone(
    server: LiveKitServer,
    monkeypatch: pytest.MonkeyPatch,
    codec: str,
    outcome: AbstractContextManager[object],
) -> None:
    """The library itself takes another now and then, once a server was restarted."""
    monkeypatch.setattr(livekit_room, "_H264", video_frame_pb2.VideoCodec.Value(codec))
    token = server.token("codec", "camera", canPublish=True)
    session = LiveKitRoom(
        ProgramRtc(provider="livekit", url=server.url, token=token, room="codec", identity="camera")
    )
    await session.join()
    await session.publish(VideoFormat(width=320, height=180, framerate=30, bitrate_bps=400_000))
    sending = asyncio.create_task(_send(session))
    try:
        with outcome:
            await until(lambda: _flows(session), "video is sent")
    finally:
        sending.cancel()
        await session.leave()
