"""Every kind of destination at once from one encode, and changes of some that the others never notice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.delivery.bucket import assert_whole, names, text_of
from tests.support.delivery.far_end import FarEnd, decoded
from tests.support.delivery.live_program import HEIGHT, WIDTH, live_program
from tests.support.delivery.livekit_server import LiveKitServer, viewer
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.watched import SentPackets, WatchedDelivery, assert_every_packet_once
from tests.support.processes import command_lines, descendants
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination, ProgramRtc
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.hls import leftovers

pytestmark = pytest.mark.media


def encoders() -> list[list[str]]:
    """Command lines of the ffmpegs below this process."""
    lines = command_lines()
    return [lines[pid] for pid in descendants(with_argument="ffmpeg")]


async def test_four_kinds_from_one_encode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "SPOOL", tmp_path / "spool")
    with LiveKitServer(tmp_path) as rooms:
        async with (
            FarEnd(tmp_path) as far_end,
            StorageServer(tmp_path) as storage,
            viewer(rooms, "room") as watching,
            live_program(800) as fan_out,
        ):
            folder = storage.bucket() / "archive"
            token = rooms.token("room", "programme", canPublish=True, canSubscribe=False)
            room = ProgramRtc(
                provider="livekit", url=rooms.url, token=token, room="room", identity="programme"
            )
            rtmp = ProgramDestination(
                id="rtmp", type="RTMP", url=f"rtmp://127.0.0.1:{far_end.rtmp}/recorded/rtmp"
            )
            srt = ProgramDestination(
                id="srt",
                type="SRT",
                url=f"srt://127.0.0.1:{far_end.srt}?streamid=publish:recorded/srt&latency=400",
            )
            rtc = ProgramDestination(id="rtc", type="RTC", rtc=room)
            archive = storage.destination(vod=True)
            all_kinds = (rtmp, srt, rtc, archive)
            sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
            watched.delivery.want(all_kinds, EncoderRun("run"))
            await watched.connected("rtmp", "srt", "rtc", "archive", timeout_s=20)
            assert len(encoders()) == 1
            assert encoders()[0].count("libx264") == 1
            report = await watching.until("moving", lambda r: r["moved"] > 60)
            assert (report["width"], report["height"]) == (WIDTH, HEIGHT)
            # A busy machine may have needed a second attempt to join the room
            before = {
                id_: (watched.delivery.counters(id_).sessions, watched.errors(id_))
                for id_ in ("rtmp", "rtc", "archive")
            }

            # Removed, added, changed: the others go on with what they have
            other = rtmp.model_copy(update={"id": "late", "url": rtmp.url.replace("/rtmp", "/late")})
            patient = rtmp.model_copy(update={"timeout_ms": 9000, "generation": 2})
            watched.delivery.want((patient, rtc, archive, other), EncoderRun("run"))
            await watched.connected("late")
            await far_end.gone("recorded/srt")
            watched.delivery.want((*all_kinds, other), EncoderRun("run"))
            await watched.connected("srt")
            await until(lambda: len(far_end.recordings("recorded/srt")) == 2, "two recordings", 20)
            await until(lambda: len(names(text_of(folder / "run.m3u8"))) >= 4, "four segments", 20)
            for id_, (sessions, errors) in {**before, "late": (1, "")}.items():
                assert watched.delivery.counters(id_).sessions == sessions, id_
                assert watched.errors(id_) == errors, id_
            await watched.delivery.finish()
            assert text_of(folder / "run.m3u8").endswith("#EXT-X-ENDLIST\n")
            await far_end.gone("recorded/rtmp")
    assert_every_packet_once(far_end.recorded("recorded/rtmp"), sent, least_s=6)
    media = await asyncio.to_thread(decoded, far_end.recordings("recorded/rtmp")[0])
    assert (media.width, media.height, media.errors) == (WIDTH, HEIGHT, "")
    await asyncio.to_thread(assert_whole, folder / "run.m3u8", 7.0)
