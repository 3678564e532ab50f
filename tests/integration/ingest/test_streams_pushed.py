"""What is pushed by RTMP reaches whoever follows the gateway's streams."""

from __future__ import annotations

import time

import pytest
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.waiting import WITHIN_S, wait_for

pytestmark = pytest.mark.media


def test_a_push_with_obs_defaults_is_told_with_what_arrives_and_ends(
    pod: IngestPod, follower: Follower, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}") as encoder:
        state = follower.flowing(key).state
        assert (state.online, state.protocol, state.error) == (True, "rtmp", None)
        assert state.publisher == "127.0.0.1"
        assert state.video
        assert (state.video.codec, state.video.width, state.video.height) == ("H264", 320, 180)
        assert state.audio
        assert (state.audio.codec, state.audio.sample_rate, state.audio.channels) == ("AAC", 48_000, 2)
        labels = f'{{protocol="rtmp",stream="{state.stream}"}}'
        bytes_total = f"onair_ingest_received_bytes_total{labels}"
        received = pod.metric(bytes_total)
        assert received > 0
        wait_for(lambda: pod.metric(bytes_total) > received, "its bitrate is told", 10)
        encoder.process.kill()
        ended_at_s = time.monotonic()
    ended = follower.ended(key)
    assert (ended.state.flowing, ended.state.error) == (False, "the publisher closed the connection")
    assert ended.at_s - ended_at_s < WITHIN_S


def test_a_key_that_nobody_has_is_refused_and_is_in_no_log(
    pod: IngestPod, scripted_facade: ScriptedFacade
) -> None:
    wrong = "wrong-key-0123456789"
    before = pod.metric('onair_ingest_refused_total{protocol="rtmp",reason="UnknownKey"}')
    with FfmpegEncoder(f"{pod.rtmp}/{wrong}") as encoder:
        assert encoder.ends() != 0
    assert pod.metric('onair_ingest_refused_total{protocol="rtmp",reason="UnknownKey"}') > before
    assert "UnknownKey" in pod.log
    assert wrong not in pod.log


def test_a_disconnected_publisher_is_gone_within_a_second(
    pod: IngestPod, follower: Follower, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}") as encoder:
        follower.flowing(key)
        asked_at_s = time.monotonic()
        assert follower.disconnect(key).status_code == 204
        assert follower.ended(key).at_s - asked_at_s < WITHIN_S
        assert encoder.ends() != 0
    assert follower.disconnect(key).status_code == 404
