"""Sources in rooms of a real LiveKit server, as a participant of the room sees them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from livekit import rtc
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.ingest.encoder import FfmpegEncoder, picture
from tests.support.ingest.follower import Follower
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.previews import seen, want
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.processes import children_of, is_connected_to
from tests.support.rooms.hosted_rooms import room_server
from tests.support.rooms.member import Member, member
from tests.support.waiting import seconds_until

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.room_publisher.recode import MAX_HEIGHT, MAX_WIDTH

pytestmark = pytest.mark.media
SOURCE = "source-camera"
GONE_S = 6.0
"""One that is killed before it has left is there for a quarter of a minute."""
NO_B_FRAMES = ("-bf", "0", "-tune", "zerolatency")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path_factory.mktemp("livekit")) as server:
        yield server


def viewer(server: LiveKitServer, room: str) -> tuple[str, str]:
    return server.url, server.token(room, "viewer", canSubscribe=True)


def present(watching: Member, source: str = SOURCE) -> rtc.RemoteParticipant | None:
    return watching.room.remote_participants.get(source)


async def test_a_source_with_b_frames_is_shown_small_with_its_sound(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "small")) as watching:
        with FfmpegEncoder(f"{pod.rtmp}/{key}", video=picture("1280x720")):
            follower.flowing(key)
            want(pod, server, "small", {key: SOURCE}).raise_for_status()
            sizes = await seen(watching, SOURCE)
            await seconds_until(lambda: watching.loudest.get(SOURCE, 0) > 1000, "the tone is heard")
            shown = present(watching)
            assert shown
            assert (shown.name, json.loads(shown.metadata)) == ("Camera", {"displayName": "Camera"})
            assert sorted(each.source for each in shown.track_publications.values()) == [
                rtc.TrackSource.SOURCE_SCREENSHARE,
                rtc.TrackSource.SOURCE_SCREENSHARE_AUDIO,
            ]
            assert set(sizes) == {(MAX_WIDTH, MAX_HEIGHT)}
            assert pod.metric("onair_ingest_previews_joined") == 1
        took_s = await seconds_until(lambda: present(watching) is None, "the preview is gone")
        assert took_s < GONE_S
    want(pod, server, "small", {})


async def test_a_source_without_b_frames_is_passed_through(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "through")) as watching:
        video = picture("854x480")
        with FfmpegEncoder(f"{pod.rtmp}/{key}", video=video, options=(*NO_B_FRAMES, "-g", "30")):
            follower.flowing(key)
            want(pod, server, "through", {key: SOURCE})
            assert set(await seen(watching, SOURCE)) == {(854, 480)}
    want(pod, server, "through", {})


async def test_a_source_without_video_is_heard(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "heard")) as watching:
        with FfmpegEncoder(f"{pod.rtmp}/{key}", video=[]):
            follower.flowing(key)
            want(pod, server, "heard", {key: SOURCE})
            await seconds_until(lambda: watching.loudest.get(SOURCE, 0) > 1000, "the tone is heard")
    want(pod, server, "heard", {})


async def test_without_previews_wanted_nothing_is_read_and_no_process_runs(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "cost")) as watching:
        with FfmpegEncoder(f"{pod.rtmp}/{key}"):
            follower.flowing(key)
            assert not processes(pod)
            want(pod, server, "cost", {key: SOURCE})
            await seen(watching, SOURCE, more=5)
            (process,) = processes(pod)
            assert niceness(pod.gateway.process.pid) < niceness(process), "receiving comes first"
            want(pod, server, "cost", {})
            assert await seconds_until(lambda: present(watching) is None, "the preview is gone") < GONE_S
            await seconds_until(lambda: not processes(pod), "its process is gone")


async def test_a_preview_joins_at_the_usual_priority_and_steps_back_once_it_has(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    usual = niceness(pod.gateway.process.pid)
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        server.freeze(True)
        try:
            want(pod, server, "priority", {key: SOURCE})
            await seconds_until(lambda: processes(pod), "its process is there")
            (process,) = processes(pod)
            await seconds_until(lambda: is_connected_to(process, server.port), "it has called the server")
            assert niceness(process) == usual
        finally:
            server.freeze(False)
        await seconds_until(lambda: pod.metric("onair_ingest_previews_joined") == 1, "it has joined")
        (process,) = processes(pod)
        found = nicenesses_of(process)
        assert len(found) > 1
        assert min(found) > usual
    want(pod, server, "priority", {})


def processes(pod: IngestPod) -> list[int]:
    """The processes of rooms that a gateway has."""
    return children_of(pod.gateway.process.pid, "room_process")


def niceness(thread: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, thread)


def nicenesses_of(pid: int) -> list[int]:
    """Those of all threads of a process."""
    found = []
    for each in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # ended meanwhile
            found.append(niceness(int(each.name)))
    return found


async def test_a_source_that_is_back_is_shown_again_without_a_word_of_the_operator(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "flapping")) as watching:
        for _ in range(3):
            before = len(follower.of(key))
            with FfmpegEncoder(f"{pod.rtmp}/{key}"):
                follower.flowing(key, after=before)
                want(pod, server, "flapping", {key: SOURCE})
                await seen(watching, SOURCE, more=5)
            await seconds_until(lambda: present(watching) is None, "the preview is gone")
    want(pod, server, "flapping", {})


async def test_who_is_removed_stays_out_until_the_room_opens_anew(
    pod: IngestPod, follower: Follower, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "removed")) as watching:
        with FfmpegEncoder(f"{pod.rtmp}/{key}"):
            follower.flowing(key)
            want(pod, server, "removed", {key: SOURCE})
            await seen(watching, SOURCE, more=5)
            server.call("RemoveParticipant", room="removed", identity=SOURCE)
            await seconds_until(lambda: not processes(pod), "its process is gone")
            for _ in range(10):  # with another token each time, as the operator renews them
                want(pod, server, "removed", {key: SOURCE}).raise_for_status()
                assert not processes(pod), "it came back"
                await asyncio.sleep(0.2)
            want(pod, server, "removed", {key: SOURCE}, opening=2)
            await seen(watching, SOURCE, more=5)
    want(pod, server, "removed", {})


async def test_previews_come_back_when_the_room_server_does(
    pod: IngestPod, follower: Follower, tmp_path: Path, key: str
) -> None:
    with LiveKitServer(tmp_path) as own, FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        async with member(*viewer(own, "killed")) as watching:
            want(pod, own, "killed", {key: SOURCE})
            await seen(watching, SOURCE, more=5)
        own.stop()
        own.start()
        began_s = time.monotonic()
        async with member(*viewer(own, "killed")) as watching:
            await seen(watching, SOURCE, more=5)
            assert time.monotonic() - began_s < 30
        want(pod, own, "killed", {})


async def test_a_preview_whose_room_is_not_there_yet_begins_once_it_is(
    pod: IngestPod, follower: Follower, tmp_path: Path, key: str
) -> None:
    """As where a room server is back before the operator has made its rooms anew."""
    with room_server(tmp_path) as own, FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        before = len(pod.log)
        want(pod, own, "later", {key: SOURCE}).raise_for_status()
        await seconds_until(lambda: "there is no such room" in pod.log[before:], "it is refused")
        own.call("CreateRoom", name="later")
        async with member(*viewer(own, "later")) as watching:
            await seen(watching, SOURCE, more=5)
        want(pod, own, "later", {})


async def test_a_gateway_that_was_killed_leaves_no_process_and_shows_it_anew(
    own_pod: IngestPod, server: LiveKitServer, key: str
) -> None:
    async with member(*viewer(server, "restarted")) as watching:
        with FfmpegEncoder(f"{own_pod.rtmp}/{key}"), own_pod.follow() as follower:
            follower.flowing(key)
            want(own_pod, server, "restarted", {key: SOURCE})
            await seen(watching, SOURCE, more=5)
            left = processes(own_pod)
            own_pod.kill(own_pod.gateway)
            await seconds_until(lambda: present(watching) is None, "the preview is gone")
            await seconds_until(
                lambda: not any(Path(f"/proc/{each}").exists() for each in left), "no process"
            )
            own_pod.start_gateway()
            want(own_pod, server, "restarted", {key: SOURCE})
            await seen(watching, SOURCE, more=5)


async def test_ten_sources_are_shown_side_by_side(
    pod: IngestPod, follower: Follower, scripted_facade: ScriptedFacade, server: LiveKitServer, key: str
) -> None:
    keys = {f"{key}-{number}": f"source-{number}" for number in range(10)}
    scripted_facade.keys |= keys.keys()
    small = (*NO_B_FRAMES, "-g", "10")
    async with member(*viewer(server, "ten")) as watching, contextlib.AsyncExitStack() as encoders:
        for each in keys:
            encoders.enter_context(
                FfmpegEncoder(f"{pod.rtmp}/{each}", video=picture("160x90", 10), audio=[], options=small)
            )
        for each in keys:
            follower.flowing(each)
        want(pod, server, "ten", keys)
        await seconds_until(lambda: pod.metric("onair_ingest_previews_joined") == 10, "all have joined", 120)
        for source in keys.values():
            await seen(watching, source, more=10)
    want(pod, server, "ten", {})
    await seconds_until(lambda: not processes(pod), "their processes are gone")


async def test_more_sources_than_may_be_previewed_take_turns(
    tmp_path: Path, scripted_facade: ScriptedFacade, secret: bytes, server: LiveKitServer, key: str
) -> None:
    other = key + "-other"
    scripted_facade.keys.add(other)
    settings = {"ONAIR_PREVIEWS__MOST": "1"}
    with IngestPod(tmp_path, scripted_facade.url, secret, settings=settings) as pod:
        async with member(*viewer(server, "turns")) as watching:
            with (
                FfmpegEncoder(f"{pod.rtmp}/{key}"),
                FfmpegEncoder(f"{pod.rtmp}/{other}"),
                pod.follow() as follower,
            ):
                follower.flowing(key)
                follower.flowing(other)
                want(pod, server, "turns", {key: SOURCE, other: "source-other"})
                await seen(watching, SOURCE, more=30)
                assert present(watching, "source-other") is None
                assert await seconds_until(lambda: follower.waiting, "it is told") < 5
                await seen(watching, SOURCE, more=30)
                assert follower.waiting == [stream_of_key(other)], "once"
                want(pod, server, "turns", {other: "source-other"})
                await seen(watching, "source-other", more=5)
