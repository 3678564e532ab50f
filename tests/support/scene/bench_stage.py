"""What benches of scenes share: layers that are measured, where their clocks are, and who sends them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.media.boxes import Box
from tests.support.scene.on_air import OnAir

from onair_crds.shapes import JsonObject

WIDTH, HEIGHT = 640, 360
"""Of a source: half of the picture's."""
PLACES = ((0, 0), (640, 0), (0, 360), (640, 360))
BOXES = [Box(x, y, WIDTH) for x, y in PLACES]


class BenchStage(NamedTuple):
    """A show that is on air, and where it is to be seen."""

    air: OnAir
    url: str


def source_layer(id_: str, place: tuple[int, int], volume: float = 1) -> JsonObject:
    x, y = place
    box = {"x": x, "y": y, "width": WIDTH, "height": HEIGHT}
    return {"type": "source", **box, "data": {"source": {"id": id_, "volume": volume}}}


def guest_layer(name: str, x: int, y: int) -> JsonObject:
    data = {"webrtc": {"id": name, "type": "webcam", "volume": 0}}
    return {"type": "webrtc", "x": x, "y": y, "width": 320, "height": 240, "data": data}


@contextmanager
def pushed(clip: Path, *urls: str) -> Iterator[None]:
    """Pushes a clip to each address in real time, again and again."""
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", str(clip)]
    pushing = [subprocess.Popen([*command, "-c", "copy", "-f", "flv", url]) for url in urls]
    try:
        yield
    finally:
        for each in pushing:
            each.kill()
            each.wait()
