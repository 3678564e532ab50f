"""What real encoders send is told as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.ingest.encoder import COPIED, SIZES, FfmpegEncoder, late_audio, picture, resized, tone
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod

pytestmark = pytest.mark.media


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
@pytest.mark.parametrize(
    ("video", "audio", "options", "size", "sound"),
    [
        pytest.param(picture(), tone(), ("-bf", "0"), (320, 180), (48_000, 2), id="no B-frames"),
        pytest.param(picture(), tone(44_100), (), (320, 180), (44_100, 2), id="44.1 kHz"),
        pytest.param(picture(), tone(48_000, 1), (), (320, 180), (48_000, 1), id="mono"),
        pytest.param(picture(), [], (), (320, 180), None, id="no audio"),
        pytest.param([], tone(), (), None, (48_000, 2), id="no video"),
        pytest.param(
            picture("1920x1080", 60),
            tone(),
            ("-preset", "ultrafast"),
            (1920, 1080),
            (48_000, 2),
            id="1080p60",
        ),
        pytest.param(picture(), tone(), ("-g", "300"), (320, 180), (48_000, 2), id="key frames 10 s apart"),
    ],
)
def test_what_encoders_send_is_told(
    pod: IngestPod,
    follower: Follower,
    key: str,
    protocol: str,
    video: list[str],
    audio: list[str],
    options: tuple[str, ...],
    size: tuple[int, int] | None,
    sound: tuple[int, int] | None,
) -> None:
    url = f"{pod.rtmp}/{key}" if protocol == "rtmp" else pod.srt(f"publish:{key}")
    with FfmpegEncoder(url, video=video, audio=audio, options=options):
        state = follower.described(key).state
    assert (state.video and (state.video.codec, state.video.width, state.video.height)) == (
        size and ("H264", *size)
    )
    assert (state.audio and (state.audio.codec, state.audio.sample_rate, state.audio.channels)) == (
        sound and ("AAC", *sound)
    )


@pytest.mark.parametrize("late_s", [0.0, 0.3])
def test_audio_that_no_metadata_names_is_not_lost(
    pod: IngestPod, follower: Follower, key: str, tmp_path: Path, late_s: float
) -> None:
    """Also where it begins a little later than the video: the ingest server waits for it."""
    clip = late_audio(tmp_path, late_s)
    with FfmpegEncoder(
        f"{pod.rtmp}/{key}", video=clip, audio=[], options=(*COPIED, "-flvflags", "no_metadata")
    ):
        state = follower.flowing(key).state
    assert state.video
    assert state.audio


@pytest.mark.parametrize(
    ("protocol", "framerate", "options"),
    [("rtmp", 60, ()), ("srt", 25, ()), ("srt", 30, ("-c:v", "libx265", "-x265-params", "log-level=none"))],
)
def test_the_frame_rate_is_measured(
    pod: IngestPod, follower: Follower, key: str, protocol: str, framerate: int, options: tuple[str, ...]
) -> None:
    url = f"{pod.rtmp}/{key}" if protocol == "rtmp" else pod.srt(f"publish:{key}")
    with FfmpegEncoder(url, video=picture(framerate=framerate), options=options):
        state = follower.wait(
            key, lambda state: bool(state.video and state.video.framerate), "the frame rate is measured"
        ).state
    assert state.video
    assert state.video.framerate == pytest.approx(framerate, rel=0.01)


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
def test_a_size_that_changes_in_mid_stream_is_told_without_a_break(
    pod: IngestPod, follower: Follower, key: str, protocol: str, tmp_path: Path
) -> None:
    url = f"{pod.rtmp}/{key}" if protocol == "rtmp" else pod.srt(f"publish:{key}")
    with FfmpegEncoder(url, video=resized(tmp_path), audio=[], options=COPIED):
        changed = follower.wait(
            key, lambda state: bool(state.video and state.video.width == SIZES[1][0]), "the new size is told"
        )
        assert changed.state.flowing
        assert not follower.interruptions(key)


def test_timestamps_that_jump_end_no_stream(pod: IngestPod, follower: Follower, key: str) -> None:
    jump = "setts=ts='if(gt(N\\,90)\\,TS+3600/TB\\,TS)'"
    sound = "setts=ts='if(gt(N\\,140)\\,TS+3600/TB\\,TS)'"
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=("-bsf:v", jump, "-bsf:a", sound)) as encoder:
        follower.flowing(key)
        follower.wait_heartbeats(12)
        assert encoder.process.poll() is None
        assert not follower.interruptions(key)
