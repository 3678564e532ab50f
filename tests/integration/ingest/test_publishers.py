"""Publishers other than ffmpeg are told as they are, and what they send decodes where it is read."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.publishers import GStreamer, PipelinePublisher, SrtLiveTransmit
from tests.support.ingest.reader import reading

pytestmark = pytest.mark.media
FRAMES = 75
"""With a key frame every 30."""
PUBLISHERS = ("rtmp2sink", "rtmpsink", "srtsink", "srt-live-transmit")


def publisher(how: str, pod: IngestPod, key: str, log: Path) -> PipelinePublisher:
    srt = pod.srt(f"publish:{key}")
    match how:
        case "srt-live-transmit":
            return SrtLiveTransmit(srt, log)
        case "srtsink":
            return GStreamer(how, f"uri={srt}", log=log)
        case _:
            return GStreamer(how, f"location={pod.rtmp}/{key}", log=log)


@pytest.mark.parametrize("how", PUBLISHERS)
async def test_what_gstreamer_and_srt_tools_send_decodes(
    pod: IngestPod, follower: Follower, secret: bytes, key: str, how: str, tmp_path: Path
) -> None:
    log = tmp_path / "publisher.log"
    with publisher(how, pod, key, log) as sending:
        state = (await asyncio.to_thread(follower.described, key)).state
        async with reading(pod.port, secret, key) as reader:
            video = await reader.read(FRAMES)
        assert sending.runs, log.read_text()
    assert state.protocol == ("rtmp" if how.startswith("rtmp") else "srt")
    assert state.video
    assert (state.video.codec, state.video.width, state.video.height) == ("H264", 320, 180)
    assert state.audio
    assert (state.audio.codec, state.audio.sample_rate, state.audio.channels) == ("AAC", 48_000, 2)
    assert any(later.pts_us < earlier.pts_us for earlier, later in pairwise(video)), "no B-frames came"
    pictures = reader.pictures()
    assert len(pictures) == FRAMES
    assert {(width, height) for _, width, height in pictures} == {(320, 180)}
    # GStreamer moves the first frames where it starts slowly; the last ones wait for B-frames not read yet
    settled_us = [record.pts_us for record in video if record.key][1]
    times_ms = [at_us / 1000 for at_us, *_ in pictures[:-4] if at_us >= settled_us]
    assert len(times_ms) > 30
    steps_ms = [later - earlier for earlier, later in pairwise(times_ms)]
    assert 0 < min(steps_ms) <= max(steps_ms) < 60, f"{how}: each picture has come: {steps_ms}"
    assert reader.samples() / 48_000 > 1.5
