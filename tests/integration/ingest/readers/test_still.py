"""A still is the last key frame of a stream, for whoever has the stream's token."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.ingest.encoder import FfmpegEncoder, tone
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.reader import still
from tests.support.media.stream import gray_pixels

pytestmark = pytest.mark.media
HALVES = ["-f", "lavfi", "-i", "color=white:size=320x180:rate=30,drawbox=w=160:color=black:t=fill"]


def test_a_still_shows_what_is_pushed(pod: IngestPod, follower: Follower, secret: bytes, key: str) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=HALVES):
        follower.flowing(key)
        response = still(pod.port, secret, key)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "image/jpeg")
        pixels = gray_pixels(response.content).reshape(180, 320)
        assert np.median(pixels[:, :150]) < 40
        assert np.median(pixels[:, 170:]) > 215
        assert still(pod.port, b"another", key).status_code == 401
        assert still(pod.port, secret, "gone").status_code == 404


def test_a_stream_without_video_has_no_still(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=[], audio=tone()):
        follower.flowing(key)
        assert still(pod.port, secret, key).status_code == 503
