"""A publisher of one colour and a tone, and what comes of both when they are decoded once."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

import av
import numpy as np
from numpy.typing import NDArray
from tests.support.ingest.encoder import AAC, X264
from tests.support.media.live_view import SAMPLE_RATE, LiveRecording, Pixels, rgb
from tests.support.scene.picture import Colour

TONE_HZ, LOUD = 440, 0.25
SIZE = (320, 180)
CLIP_S = 60
AT_ONCE_S = 2.5
"""So much is sent at once: MediaMTX looks at two seconds of a stream before it has readers."""
WINDOW_S = 0.02
TAGS = ("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv")


class Clip(NamedTuple):
    """Some time of a colour and of a tone, encoded as OBS does, and what it is decoded once."""

    path: Path
    colour: Colour
    level: float
    """Of the tone: its peak."""

    def off(self, pixels: Pixels) -> int:
        """How far what is worst is from the colour."""
        return int(np.abs(pixels.astype(int) - np.array(self.colour)).max())


def clip(path: Path, colour: Colour, seconds: float = CLIP_S) -> Clip:
    """Encodes a clip."""
    size = "x".join(map(str, SIZE))
    shade = f"color=c=0x{bytes(colour).hex()}:size={size}:rate=30,format=gbrp"
    tone = f"{LOUD}*sin(2*PI*{TONE_HZ}*t)"
    command = [
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-y"),
        *("-f", "lavfi", "-i", f"{shade},scale=out_color_matrix=bt709:out_range=tv,format=yuv420p"),
        *("-f", "lavfi", "-i", f"aevalsrc={tone}|{tone}:s={SAMPLE_RATE}:c=stereo"),
        *(*X264, "-g", "15", *TAGS, *AAC, "-t", str(seconds), str(path)),
    ]
    subprocess.run(command, check=True, timeout=60)
    with av.open(str(path)) as container:
        red, green, blue = np.median(rgb(next(container.decode(video=0))), axis=(0, 1)).astype(int).tolist()
    with av.open(str(path)) as container:
        heard = np.concatenate([frame.to_ndarray()[0] for frame in islice(container.decode(audio=0), 100)])
    return Clip(path, (red, green, blue), tone_level(heard[SAMPLE_RATE:]))


def tone_level(samples: NDArray[np.float32], hz: float = TONE_HZ) -> float:
    """How loud the tone is, as its peak; most of the time: a dropout is not counted."""
    size = round(WINDOW_S * SAMPLE_RATE)
    times, window = np.arange(size) / SAMPLE_RATE, np.hanning(size)
    turned = window * np.exp(-2j * np.pi * hz * times) / window.sum()
    pieces = samples[: len(samples) // size * size].reshape(-1, size)
    return float(np.median(2 * np.abs(pieces @ turned)))


def tone_at_end(recording: LiveRecording, seconds: float, hz: float = TONE_HZ) -> float:
    """The tone's level, at the end of what was recorded."""
    end_s = recording.frames[-1].at_s - 0.2
    return tone_level(recording.sound(end_s - seconds, end_s), hz)


class Camera:
    """Pushes a clip in real time. Use as a context manager."""

    def __init__(self, url: str, pushed: Clip) -> None:
        self._command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-itsoffset", f"-{AT_ONCE_S}"]
        self._command += ["-i", str(pushed.path), "-c", "copy", "-f", "flv", url]

    def __enter__(self) -> Self:
        self._start()
        return self

    def again(self) -> None:
        """Connects again if it was refused: the place of a former one may not be free yet."""
        if self._process.poll() is not None:
            self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self) -> None:
        """Ends as a publisher that crashes."""
        self._process.kill()
        self._process.wait()

    def __exit__(self, *_: object) -> None:
        self.end()
