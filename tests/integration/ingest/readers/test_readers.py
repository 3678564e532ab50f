"""What encoders push is handed to readers as access units that decode; without readers nothing is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest
from tests.support.ingest.encoder import COPIED, SIZES, FfmpegEncoder, picture, resized, tone
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.reader import reading
from tests.support.ingest.restamped import publish_restamped, recorded
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.waiting import wait_for

from onair_crds.contract.access_units import ACCESS_UNITS_SUFFIX, CLOSE_ENDED, CLOSE_UNSUPPORTED, UnitKind
from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token, stream_of_key
from onair_crds.media.flv import Packet

pytestmark = pytest.mark.media
RESIZED_AFTER_S = 8
LINGER_S = 0.5


@pytest.fixture(scope="module")
def pod(
    tmp_path_factory: pytest.TempPathFactory, scripted_facade: ScriptedFacade, secret: bytes
) -> Iterator[IngestPod]:
    settings = {"ONAIR_READER_LINGER_S": str(LINGER_S)}
    with IngestPod(tmp_path_factory.mktemp("i"), scripted_facade.url, secret, settings=settings) as pod:
        yield pod


@pytest.fixture(scope="module")
def follower(pod: IngestPod) -> Iterator[Follower]:
    with pod.follow() as follower:
        yield follower


def server_readers(pod: IngestPod, key: str) -> int:
    """How many read a stream from the media server; while a frame rate is measured there is one more."""
    return len(pod.server_api("GET", f"/v3/paths/get/live/{key}").json()["readers"])


async def test_pictures_with_b_frames_and_sound_decode(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            video = await reader.read(90)
    assert [record.kind for record in reader.records[:2]] == [UnitKind.VIDEO_CONFIG, UnitKind.AUDIO_CONFIG]
    assert video[0].key
    assert any(later.pts_us < earlier.pts_us for earlier, later in pairwise(video)), "no B-frames came"
    assert all(later.dts_us > earlier.dts_us for earlier, later in pairwise(video))
    pictures = reader.pictures()
    assert len(pictures) == 90
    assert {(width, height) for _, width, height in pictures} == {(320, 180)}
    # The last ones wait for B-frames that were not read any more
    steps = {round((later - earlier) / 1000) for (earlier, *_), (later, *_) in pairwise(pictures[:-4])}
    assert steps <= set(range(31, 37)), "RTMP rounds times to 1 ms"
    assert reader.samples() / 48_000 > 2.5


@pytest.mark.parametrize(
    ("video", "audio", "rate_hz", "channels"),
    [
        (picture("640x360", 60), tone(44_100, 1), 44_100, 1),
        ([], tone(), 48_000, 2),
        (picture(), [], 0, 0),
    ],
)
async def test_what_else_encoders_send(
    pod: IngestPod,
    follower: Follower,
    secret: bytes,
    key: str,
    video: list[str],
    audio: list[str],
    rate_hz: int,
    channels: int,
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=video, audio=audio):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            await reader.read(60, UnitKind.VIDEO if video else UnitKind.AUDIO)
    assert bool(reader.pictures() if video else []) is bool(video)
    assert bool(reader.samples() if audio else 0) is bool(audio)
    if audio:
        config = next(record for record in reader.records if record.kind is UnitKind.AUDIO_CONFIG)
        assert f'"sampleRate":{rate_hz},"channels":{channels}'.encode() in config.payload


async def test_what_no_page_decodes_is_refused_while_it_runs(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    options = ("-c:v", "libx265", "-x265-params", "log-level=none")
    with FfmpegEncoder(pod.srt(f"publish:{key}"), audio=[], options=options):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            assert await reader.closed(2) == CLOSE_UNSUPPORTED
    assert not reader.records


async def test_1080p60_is_read_whole(pod: IngestPod, follower: Follower, secret: bytes, key: str) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=picture("1920x1080", 60), options=("-preset", "ultrafast")):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            await reader.read(90, timeout_s=30)
    assert not any(record.gap for record in reader.records)
    pictures = reader.pictures()
    assert len(pictures) == 90
    assert {(width, height) for _, width, height in pictures} == {(1920, 1080)}
    times_ms = sorted(pts_us / 1000 for pts_us, *_ in pictures)
    assert times_ms[85] - times_ms[0] == pytest.approx(85_000 / 60, abs=2)


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
async def test_a_size_that_changes_in_mid_stream_is_decoded_before_and_after(
    pod: IngestPod, follower: Follower, secret: bytes, key: str, protocol: str, tmp_path: Path
) -> None:
    """By RTMP it is told by a header alone, by SRT within the stream."""
    async with AsyncExitStack() as stack:
        if protocol == "rtmp":
            publishing = asyncio.create_task(publish_restamped(pod.rtmp, key, resized_packets(), int))
            stack.callback(publishing.cancel)
        else:
            url, clip = pod.srt(f"publish:{key}"), resized(tmp_path, RESIZED_AFTER_S)
            stack.enter_context(FfmpegEncoder(url, video=clip, audio=[], options=COPIED))
        await asyncio.to_thread(follower.flowing, key)
        reader = await stack.enter_async_context(reading(pod.port, secret, key))
        await reader.read(300, timeout_s=40)
    sizes = [(width, height) for _, width, height in reader.pictures()]
    assert len(sizes) == 300
    first = sizes.count(SIZES[0])
    assert 0 < first < 300
    assert sizes == [SIZES[0]] * first + [SIZES[1]] * (300 - first)


def resized_packets() -> list[Packet]:
    """What an encoder sends that changes its size in mid-stream."""
    before, after = (recorded(RESIZED_AFTER_S, f"{width}x{height}") for width, height in SIZES)
    return before + [replace(each, timestamp_ms=each.timestamp_ms + RESIZED_AFTER_S * 1000) for each in after]


async def test_a_late_reader_begins_at_once_though_key_frames_are_far_apart(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=("-g", "300")):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as first:
            await first.read(30, timeout_s=20)
            began_s = time.monotonic()
            async with reading(pod.port, secret, key) as late:
                await late.read(30)
                assert time.monotonic() - began_s < 2
    assert late.records[2].key
    assert len(late.pictures()) >= 30


async def test_a_stream_is_read_once_for_all_readers_and_not_at_all_without_any(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.wait(key, lambda state: bool(state.video and state.video.framerate), "it is measured")
        wait_for(lambda: server_readers(pod, key) == 0, "nobody reads", 5)
        async with reading(pod.port, secret, key) as one, reading(pod.port, secret, key) as other:
            await one.read(5)
            await other.read(5)
            assert server_readers(pod, key) == 1
            assert pod.metric(f'onair_ingest_readers{{stream="{stream_of_key(key)}"}}') == 2
        wait_for(lambda: server_readers(pod, key) == 0, "nobody reads", 10)
        async with reading(pod.port, secret, key) as again:
            await again.read(5)


async def test_a_reader_needs_the_token_of_its_stream(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    stream = stream_of_key(key)
    url = f"http://127.0.0.1:{pod.port}{STREAMS_PATH}/{stream}{ACCESS_UNITS_SUFFIX}"

    async def status(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
            return response.status

    assert await status("") == 401
    assert await status(reader_token(secret, stream_of_key("another"))) == 401
    assert await status(reader_token(secret, stream)) == 404
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        assert await status("") == 401
    assert key not in pod.log


async def test_a_source_that_goes_ends_its_readers_and_one_that_is_back_has_new_ones(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            await reader.read(5)
            assert follower.disconnect(key).status_code == 204
            assert await reader.closed() == CLOSE_ENDED
    follower.ended(key)
    with FfmpegEncoder(f"{pod.rtmp}/{key}"), pod.follow() as again:
        again.flowing(key)
        async with reading(pod.port, secret, key) as reader:
            assert (await reader.read(5))[0].key


async def test_a_reader_that_takes_nothing_holds_up_nobody(
    pod: IngestPod, follower: Follower, secret: bytes, key: str
) -> None:
    heavy = ("-preset", "ultrafast", "-qp", "4", "-g", "30")
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=picture("1280x720"), options=heavy):
        follower.flowing(key)
        async with reading(pod.port, secret, key) as stuck, reading(pod.port, secret, key) as quick:
            await stuck.read(1)
            stuck.pause()
            video = await quick.read(110, timeout_s=30)
            assert all(b.dts_us - a.dts_us < 100_000 for a, b in pairwise(video))
            stuck.resume()
            await stuck.read(60)
    assert any(record.gap and record.key for record in stuck.records)


async def test_a_gateway_that_was_killed_serves_again(own_pod: IngestPod, secret: bytes, key: str) -> None:
    with FfmpegEncoder(f"{own_pod.rtmp}/{key}") as encoder:
        with own_pod.follow() as follower:
            follower.flowing(key)
        async with reading(own_pod.port, secret, key) as reader:
            await reader.read(5)
            own_pod.kill(own_pod.gateway)
            assert await reader.closed() != CLOSE_ENDED
        own_pod.start_gateway()
        with own_pod.follow() as follower:
            follower.flowing(key)
        async with reading(own_pod.port, secret, key) as reader:
            assert (await reader.read(30))[0].key
        assert encoder.process.poll() is None, "the publisher was thrown off"


@pytest.mark.parametrize("jump_ms", [-2_500, 3_600_000], ids=["back", "ahead"])
async def test_timestamps_that_jump_end_no_stream_and_go_on_for_its_readers(
    pod: IngestPod, follower: Follower, secret: bytes, key: str, jump_ms: int
) -> None:
    def restamp(time_ms: int) -> int:
        return time_ms if time_ms < 4_000 else time_ms + jump_ms

    # Key frames two seconds apart: who reads has as long to connect again
    packets = recorded(14.0, interval=60)
    publishing = asyncio.create_task(publish_restamped(pod.rtmp, key, packets, restamp))
    await asyncio.to_thread(follower.flowing, key)
    async with reading(pod.port, secret, key) as reader:
        video = await reader.read(180, timeout_s=25)
    assert not publishing.done()
    assert not follower.interruptions(key)
    publishing.cancel()
    steps = [later.dts_us - earlier.dts_us for earlier, later in pairwise(video)]
    assert min(steps) > 0
    assert max(steps) < 2_500_000, "what is lost at a jump ends with the next key frame"
