"""What an HLS destination costs, beside ffmpeg's segmenter into a folder, which uploads nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.support.delivery.cost import COPY, Delivering, cost, programme, running
from tests.support.delivery.storage_server import StorageServer

__all__ = ["programme"]

MANY = 4
SEGMENT_S = 2


async def test_what_one_more_hls_destination_costs(
    programme: Path, report: Callable[..., float], tmp_path: Path
) -> None:
    names = [f"h{n}" for n in range(MANY)]
    async with StorageServer(tmp_path) as storage:
        folder = storage.bucket()
        one = Delivering(programme)
        nothing = cost(one.processes)
        live = {"segment_duration_ms": SEGMENT_S * 1000, "playlist_count": 6, "file_count": 8}
        one.want(*(json.loads(storage.destination(name, **live).wire()) for name in names))
        found = cost(one.processes)
        for name in names:
            assert "#EXTINF" in (folder / name / "index.m3u8").read_text(), "it is stored"
        one.close()
    window = [
        "-f",
        "hls",
        "-hls_time",
        str(SEGMENT_S),
        "-hls_list_size",
        "6",
        "-hls_flags",
        "delete_segments",
    ]
    for name in names:
        (tmp_path / name).mkdir()
    commands: list[list[str | Path]] = [
        [*COPY, programme, "-c", "copy", *window, tmp_path / name / "index.m3u8"] for name in names
    ]
    with running(*commands) as pids:
        children = cost(lambda: pids)
    for index, (what, unit) in enumerate((("CPU", "%"), ("memory", "MB"))):
        report(f"{what} of one more HLS destination", [(found[index] - nothing[index]) / MANY], unit)
        report(f"… by a child `ffmpeg -c copy -f hls` each ({what})", [children[index] / MANY], unit)
