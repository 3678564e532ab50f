"""A start of a pair of containers, and how far apart audio and video of it arrive at an RTMP server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media import probe
from tests.support.pod_pair import PodPair, programme

from onair_crds.contract.program import ProgramVideo

RECORDING_S = 13
"""Some fifty clicks and their flashes: each is precise to a frame, as a flash is seen with the next one."""


def av_offsets_of_a_start(
    folder: Path, page: str, far_end: RtmpContainer, width: int = 640, height: int = 360
) -> Iterator[float]:
    """Audio minus video in one recording after the other, each in the median of its flashes, in ms."""
    video = ProgramVideo(
        width=width, height=height, framerate=30, bitrate_bps=1_500_000, keyframe_interval_frames=30
    )
    folder.mkdir(exist_ok=True)
    with PodPair(folder) as pair:
        pair.wait_agent()
        pair.put(programme(f"{page}?clicks=4", far_end, "start", video=video))
        pair.wait_phase("running")
        pair.wait_connected("start")
        for number in count():
            place = folder / f"recording-{number}"
            place.mkdir()
            recording = probe.record(far_end.rtmp_url("start"), RECORDING_S, place)
            report = probe.analyse(recording)
            assert report.av_offset_ms is not None, f"clicks and flashes do not fit: {report!r}"
            yield report.av_offset_ms
