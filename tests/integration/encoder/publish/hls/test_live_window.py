"""A live window slides, and is resumed by the encoder that follows."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from tests.support.delivery.bucket import (
    begins_with,
    hls_publisher,
    names,
    probe,
    text_of,
    until_connected,
    until_error,
)
from tests.support.delivery.live_program import live_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.waiting import until

pytestmark = pytest.mark.media


def number(playlist: str, tag: str) -> int:
    found = re.search(rf"#EXT-X-{tag}:(\d+)\n", playlist)
    return int(found[1]) if found else 0


async def test_a_window_slides_and_old_segments_are_deleted(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "live"
        live = server.destination("live", playlist_count=2, file_count=4)
        publisher = hls_publisher(live, fan_out)

        def slid() -> str | None:
            playlist = text_of(folder / "index.m3u8")
            for name in names(playlist):
                assert (folder / name).exists(), "a playlist names what is not there"
            assert len(names(playlist)) <= 4, "three target durations, and no more than that takes"
            return playlist if "run-00000006" in playlist else None

        seen = await until(slid, "the seventh segment is listed", 30, poll_s=0.05)
        await until(lambda: len(list(folder.glob("*.ts"))) <= 2 * 4 + 1, "old segments are deleted", 5)
        assert f"#EXT-X-MEDIA-SEQUENCE:{7 - len(names(seen))}\n" in seen
        assert "PLAYLIST-TYPE" not in seen

        # Another encoder takes over: numbers continue, and the playlist marks the cut
        publisher.abort()
        follower = hls_publisher(live, fan_out, epoch=2)
        taken = await until(
            lambda: (t := text_of(folder / "index.m3u8")).count("run-00000008.2.") > 0 and t, "it goes on"
        )
        assert taken.count("#EXT-X-DISCONTINUITY\n") >= 1
        await follower.finish()
        closed = text_of(folder / "index.m3u8")
        assert closed.endswith("#EXT-X-ENDLIST\n")
        await asyncio.to_thread(probe, folder / "index.m3u8")

        # Another run takes the numbers on, and deletes what the last one left
        second = hls_publisher(live, fan_out, run="second")
        await until_connected(second)
        begun = text_of(folder / "index.m3u8")
        assert number(begun, "MEDIA-SEQUENCE") == number(closed, "MEDIA-SEQUENCE") + len(names(closed))
        assert number(begun, "DISCONTINUITY-SEQUENCE") >= number(closed, "DISCONTINUITY-SEQUENCE")
        await until(lambda: not list(folder.glob("run-*.ts")), "the old run's segments are gone")
        second.abort()


async def test_it_stands_down_for_an_encoder_of_a_higher_epoch_until_the_operator_wants_it(
    tmp_path: Path,
) -> None:
    """As one that is cut off from the cluster and not from its storage."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        publisher = hls_publisher(server.destination(vod=True), fan_out, epoch=1)
        await until_connected(publisher)
        text = text_of(folder / "run.m3u8")
        taken = text.replace(".1.", ".2.")
        await server.put("archive/run.m3u8", taken)
        words = await until_error(publisher)
        assert words.startswith(
            "encoder 2 of this broadcast writes to bucket shows under this prefix; retried"
        )
        await publisher.finish()
        assert text_of(folder / "run.m3u8") == taken
        assert "ENDLIST" not in taken


async def test_many_old_segments_do_not_delay_what_is_live(tmp_path: Path) -> None:
    """Each deletion takes 150 ms, and there are forty to be made."""
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        folder = server.bucket() / "live"
        folder.mkdir()
        port = await proxy.link("storage", server.port)
        old = [f"last-{number:08}.ts" for number in range(40)]
        for name in old:
            (folder / name).write_bytes(b"old")
        entries = "".join(f"#EXTINF:2.0,\n{name}\n" for name in old[-4:])
        head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:36\n"
        (folder / "index.m3u8").write_text(head + entries)
        await proxy.poison("storage", "latency", latency=150)
        live = {"playlist_count": 4, "file_count": 40, "segment_duration_ms": 1000}
        endpoint = f"http://127.0.0.1:{port}"
        wanted = server.destination("live", endpoint=endpoint, timeout_ms=5000, **live)
        publisher = hls_publisher(wanted, fan_out)
        await until(lambda: begins_with(folder / "index.m3u8", "run-"), "it is live")
        began = time.monotonic()
        await until(lambda: "run-00000043" in text_of(folder / "index.m3u8"), "it goes on")
        assert time.monotonic() - began < 6
        await until(lambda: not set(old) & {each.name for each in folder.iterdir()}, "all are gone", 30)
        publisher.abort()
