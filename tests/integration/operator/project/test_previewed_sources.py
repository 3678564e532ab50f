"""Sources in the rooms of their projects, by the operator, a gateway and a room server that are all real."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from livekit import rtc
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.preview_stage import SOURCE, PreviewStage, staged
from tests.support.ingest.previews import seen
from tests.support.operated_namespace import OperatedNamespace
from tests.support.processes import suspend
from tests.support.rooms.hosted_rooms import room_server
from tests.support.rooms.member import Member
from tests.support.waiting import seconds_until

from onair_crds.kube.apis import CUSTOM
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media
SILENT_AFTER_S = 1.0
"""As a gateway is told by default: who is silent for so long has ended."""
TRIES = 2
"""The quickest keeps to the bound; on a busy machine others may take longer."""
TOLD_S = 6.0
GONE_S = 6.0
"""A participant that leaves is gone; one whose process was killed stays 15 s."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    with room_server(tmp_path_factory.mktemp("livekit")) as server:
        yield server


def has_room(server: LiveKitServer, room: str) -> bool:
    """Whether it lists the room: of one that is not there it lists participants as well, none."""
    return bool(server.call("ListRooms", names=[room])["rooms"])


def described(shown: rtc.RemoteParticipant, name: str) -> JsonObject:
    """The metadata that a preview is to have."""
    (video,) = (
        each.sid for each in shown.track_publications.values() if each.kind == rtc.TrackKind.KIND_VIDEO
    )
    return {"displayName": name, video: {"displayName": name}}


async def renamed(operated_namespace: OperatedNamespace, shown: rtc.RemoteParticipant, name: str) -> float:
    """Gives a preview another name; after how many seconds it is told, its metadata with it."""
    await operated_namespace.patch("Source", SOURCE, {"preview": {"webrtc": {"displayName": name}}})
    return await seconds_until(
        lambda: shown.name == name and json.loads(shown.metadata) == described(shown, name), "the new name"
    )


async def gone(stage: PreviewStage, anna: Member) -> float:
    """After how many seconds a participant sees the preview no more.

    Raises:
        AssertionError: they still do; it says whom the server lists, and what the gateways did.
    """
    try:
        return await seconds_until(
            lambda: SOURCE not in anna.room.remote_participants, "the preview is gone", 10
        )
    except AssertionError as error:
        raise AssertionError(with_what_was_done(stage, error)) from None


async def seen_again(stage: PreviewStage, anna: Member) -> None:
    """Waits until a participant sees the preview; fails with the same as `gone`."""
    try:
        await seen(anna, SOURCE, more=10)
    except AssertionError as error:
        raise AssertionError(with_what_was_done(stage, error)) from None


def with_what_was_done(stage: PreviewStage, error: AssertionError) -> str:
    """An error, with whom the server lists and what the gateways did."""
    listed = stage.server.call("ListParticipants", room=stage.room)
    logged = [line for pod in stage.pods for line in pod.log.splitlines() if "preview" in line]
    return "\n".join([f"{error}; the server lists {listed}", *logged])


async def test_a_camera_is_shown_while_somebody_is_there_renamed_live_and_gone_when_it_is_not_to_be(
    operated_namespace: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with (
        staged(operated_namespace, server, tmp_path) as stage,
        operated_namespace.operator(**stage.settings),
    ):
        with stage.camera():
            await stage.flows()
            assert stage.previews() == 0, "nobody is there to see it"
            async with stage.joined() as anna:
                await seen(anna, SOURCE, more=10)
                shown = anna.room.remote_participants[SOURCE]
                assert shown.name == "Camera"
                await seconds_until(
                    lambda: json.loads(shown.metadata) == described(shown, "Camera"), "its track", TOLD_S
                )
                took_s = [await renamed(operated_namespace, shown, name) for name in ("Balcony", "Terrace")]
                assert min(took_s) < 2
                assert max(took_s) < TOLD_S
                await seen(anna, SOURCE, more=10)
            await seconds_until(lambda: stage.previews() == 0, "nothing is shown to nobody")
            async with stage.joined() as anna:
                await seen(anna, SOURCE, more=10)
                took_s = []
                for _ in range(TRIES):
                    off = {"preview": {"webrtc": {"enabled": False}}}
                    await operated_namespace.patch("Source", SOURCE, off)
                    took_s.append(await gone(stage, anna))
                    on = {"preview": {"webrtc": {"enabled": True}}}
                    await operated_namespace.patch("Source", SOURCE, on)
                    await seen(anna, SOURCE, more=10)
                assert min(took_s) < 2
                assert max(took_s) < GONE_S


async def test_a_camera_that_ends_is_gone_within_two_seconds_and_back_when_it_is(
    operated_namespace: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with (
        staged(operated_namespace, server, tmp_path) as stage,
        operated_namespace.operator(**stage.settings),
        stage.joined() as anna,
    ):
        took_s = []
        for _ in range(TRIES):
            with stage.camera():
                await seen(anna, SOURCE, more=10)
            took_s.append(await gone(stage, anna))
        assert min(took_s) < 2
        assert max(took_s) < GONE_S


@pytest.mark.parametrize(
    ("protocol", "ends"), [("srt", signal.SIGKILL), ("srt", signal.SIGSTOP), ("rtmp", signal.SIGSTOP)]
)
async def test_a_camera_that_says_nothing_any_more_is_gone_a_second_later(
    operated_namespace: OperatedNamespace,
    server: LiveKitServer,
    tmp_path: Path,
    protocol: str,
    ends: signal.Signals,
) -> None:
    async with (
        staged(operated_namespace, server, tmp_path) as stage,
        operated_namespace.operator(**stage.settings),
        stage.joined() as anna,
    ):
        if protocol == "srt":
            await operated_namespace.patch("Source", SOURCE, {"address": {"rtmpPush": None, "srtPush": {}}})
        url = stage.pod.srt(f"publish:{stage.key}") if protocol == "srt" else f"{stage.pod.rtmp}/{stage.key}"
        took_s = []
        for _ in range(TRIES):
            with FfmpegEncoder(url) as camera:
                await seen(anna, SOURCE, more=10)
                if ends == signal.SIGSTOP:
                    suspend(camera.process.pid)
                else:
                    camera.process.send_signal(ends)
                took_s.append(await gone(stage, anna))
        assert min(took_s) < SILENT_AFTER_S + 2
        assert max(took_s) < SILENT_AFTER_S + GONE_S


async def test_who_removes_a_preview_does_not_see_it_again(
    operated_namespace: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with (
        staged(operated_namespace, server, tmp_path) as stage,
        operated_namespace.operator(**stage.settings),
    ):
        with stage.camera():
            async with stage.joined() as anna:
                await seen(anna, SOURCE, more=10)
                await operated_namespace.patch(
                    "Project", "show", {"room": {"barred": [{"identity": SOURCE}]}}
                )
                await gone(stage, anna)
                await seconds_until(lambda: stage.previews() == 0, "it is not wanted any more")
                await operated_namespace.patch("Project", "show", {"room": {"barred": []}})
                await seen(anna, SOURCE, more=10)


@pytest.fixture
async def left_by_a_leader(
    operated_namespace: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> AsyncIterator[tuple[PreviewStage, Member]]:
    """A preview that an operator, which has ended, has shown to somebody who is still there."""
    async with staged(operated_namespace, server, tmp_path) as stage:
        with stage.camera():
            async with stage.joined() as anna:
                async with operated_namespace.operator(**stage.settings):
                    await seen(anna, SOURCE, more=10)
                yield stage, anna


async def test_another_leader_goes_on_with_previews_without_a_gap(
    operated_namespace: OperatedNamespace, left_by_a_leader: tuple[PreviewStage, Member]
) -> None:
    stage, anna = left_by_a_leader
    joined = anna.room.remote_participants[SOURCE].sid
    async with operated_namespace.operator(**stage.settings), operated_namespace.operator(**stage.settings):
        await seen(anna, SOURCE, more=90)
        assert anna.room.remote_participants[SOURCE].sid == joined, "it has joined anew"


async def test_a_new_leader_ends_what_is_shown_in_the_room_of_a_project_that_is_gone(
    operated_namespace: OperatedNamespace,
    server: LiveKitServer,
    left_by_a_leader: tuple[PreviewStage, Member],
) -> None:
    stage, anna = left_by_a_leader
    await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, "show")
    async with operated_namespace.operator(**stage.settings):
        # It is to lead first, and to look at all that is there. The room goes too, before or after the
        # preview: anybody who was disconnected by that keeps the participants that they knew.
        await anna.disconnected(20)
        await seconds_until(lambda: stage.previews() == 0, "it is not wanted any more")
        await seconds_until(lambda: not has_room(server, stage.room), "the room is closed")


async def test_previews_are_back_with_the_room_server_and_with_the_gateway(
    operated_namespace: OperatedNamespace, tmp_path: Path
) -> None:
    (tmp_path / "rooms").mkdir()
    with room_server(tmp_path / "rooms") as own:
        async with (
            staged(operated_namespace, own, tmp_path) as stage,
            operated_namespace.operator(**stage.settings),
        ):
            with stage.camera():
                async with stage.joined() as anna:
                    await seen_again(stage, anna)
                own.stop()
                own.start()
                await seconds_until(lambda: has_room(own, stage.room), "the operator has made the room anew")
                async with stage.joined() as anna:
                    await seen_again(stage, anna)
                    stage.pod.kill(stage.pod.gateway)
                    await gone(stage, anna)
                    stage.pod.start_gateway()
                    await seen_again(stage, anna)


async def test_a_camera_that_comes_back_to_another_ingest_pod_is_shown_by_that_one(
    operated_namespace: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with (
        staged(operated_namespace, server, tmp_path, pods=2) as stage,
        operated_namespace.operator(**stage.settings),
        stage.joined() as anna,
    ):
        one, two = stage.pods
        with stage.camera(one):
            await seen(anna, SOURCE, more=10)
            one.crash()
        with stage.camera(two):
            await seconds_until(
                lambda: two.metric("onair_ingest_previews_joined") == 1, "the other pod shows it"
            )
            await seen(anna, SOURCE, more=10)
            assert list(anna.room.remote_participants) == [SOURCE]
