"""Measures what a video of BT.709 costs that is given its blue, beside one that is drawn as it is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.media import boxes, probe
from tests.support.media.boxes import Box
from tests.support.pages import site
from tests.support.program_cpu import programs_cores
from tests.support.scene.bench_stage import BenchStage

SETTLE_S, MEASURE_S, SHOWN_S, CLIP_S = 4.0, 10.0, 6.0, 60
ROUNDS = 3
WHOLE = Box(0, 0, 1280)
MATRICES = {"BT.601": 6, "BT.709": 1}
SHOWN = 0.9
"""Part of the programme's frames that show another one of the video's: what is measured is there."""
MOST = 1.15
"""Of the CPU of a pod, beside the same pod with the other video."""


def tagged(clip: Path, matrix: int, folder: Path) -> bytes:
    """The same frames, said to be of a matrix."""
    path = folder / f"{matrix}.mp4"
    tags = ("matrix_coefficients", "colour_primaries", "transfer_characteristics")
    tag = "h264_metadata=" + ":".join(f"{name}={matrix}" for name in tags)
    command = ["ffmpeg", "-loglevel", "error", "-y", "-nostdin", "-t", str(CLIP_S), "-i", str(clip), "-an"]
    subprocess.run([*command, "-c", "copy", "-bsf:v", tag, "-movflags", "+faststart", str(path)], check=True)
    return path.read_bytes()


def test_a_video_of_the_whole_picture(
    stage: BenchStage, clip: Path, report: Callable[..., float], tmp_path: Path
) -> None:
    files = {f"/{name}.mp4": ("video/mp4", tagged(clip, of, tmp_path)) for name, of in MATRICES.items()}
    cores: dict[str, list[float]] = {name: [] for name in MATRICES}
    seen: dict[str, list[float]] = {name: [] for name in MATRICES}
    with site(files) as address:
        scenes = {}
        for name in MATRICES:
            data = {"media": {"url": f"{address}/{name}.mp4", "volume": 0, "loop": True}}
            box = {"width": 1280, "height": 720}
            scenes[name] = stage.air.scene(video={"type": "video", **box, "data": data})
        for _ in range(ROUNDS):
            for name, scene in scenes.items():
                stage.air.compose({"scene": {"selectedLayoutId": scene.id}})
                time.sleep(SETTLE_S)
                clock = boxes.clock_of(probe.record(stage.url, SHOWN_S, tmp_path).path, WHOLE)
                seen[name].append(len({each.wall_ms for each in clock if each}) / len(clock))
                with programs_cores(stage.air.pod) as spent:
                    time.sleep(MEASURE_S)
                cores[name].append(sum(spent.values()))
    assert min(min(each) for each in seen.values()) > SHOWN, seen
    medians = {
        name: report(f"CPU of the pod with a 720p30 video of {name}", each, "core")
        for name, each in cores.items()
    }
    assert medians["BT.709"] < medians["BT.601"] * MOST
