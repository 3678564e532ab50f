"""Compares the cost of an HLS destination with ffmpeg's segmenter, which writes to a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.support.delivery.cost import COPY, DeliveryProcess, cost, programme, running
from tests.support.delivery.storage_server import StorageServer

__all__ = ["programme"]

MANY = 4
SEGMENT_S = 2


async def test_cost_of_an_additional_hls_destination(
    programme: Path, report: Callable[..., float], tmp_path: Path
) -> None:
    names = [f"h{n}" for n in range(MANY)]
    async with StorageServer(tmp_path) as storage:
        folder = storage.bucket()
        delivery = DeliveryProcess(programme)
        baseline = cost(delivery.processes)
        live = {"segment_duration_ms": SEGMENT_S * 1000, "playlist_count": 6, "file_count": 8}
        delivery.want(*(json.loads(storage.destination(name, **live).wire()) for name in names))
        ours = cost(delivery.processes)
        for name in names:
            assert "#EXTINF" in (folder / name / "index.m3u8").read_text(), f"{name} is not stored"
        delivery.close()
    options = [
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
        [*COPY, programme, "-c", "copy", *options, tmp_path / name / "index.m3u8"] for name in names
    ]
    with running(*commands) as pids:
        children = cost(lambda: pids)
    for index, (resource, unit) in enumerate((("CPU", "%"), ("memory", "MB"))):
        figure = f"additional HLS destination, {resource}"
        report(figure, [(ours[index] - baseline[index]) / MANY], unit)
        report(f"{figure}, as a child `ffmpeg -c copy -f hls`", [children[index] / MANY], unit)
