"""A live stream as a decoder sees it: frames, loudness, format."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def gray_frames(url: str, seconds: float, width: int = 64, height: int = 36) -> NDArray[np.uint8]:
    """Frames, decoded and scaled down: time × height × width."""
    output = _decode(
        url,
        *("-t", str(seconds), "-an", "-vf", f"scale={width}:{height}", "-pix_fmt", "gray", "-f", "rawvideo"),
    )
    return np.frombuffer(output, np.uint8).reshape(-1, height, width)


def rgb_frames(url: str, width: int, height: int) -> Generator[NDArray[np.uint8], None, None]:
    """Frames of this size as a player shows them, height × width × 3, from the next key frame on."""
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", *_input(url), "-an"]
    shown = ("-fps_mode", "passthrough", "-vf", "scale=flags=accurate_rnd+full_chroma_int")
    with subprocess.Popen(
        [*command, *shown, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        size = width * height * 3
        try:
            while len(frame := process.stdout.read(size)) == size:
                yield np.frombuffer(frame, np.uint8).reshape(height, width, 3)
        finally:
            process.kill()


def gray_pixels(image: bytes) -> NDArray[np.uint8]:
    """Pixels of a JPEG, in a row."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
    return np.frombuffer(
        subprocess.run(command, input=image, check=True, capture_output=True).stdout, np.uint8
    )


def loudness(url: str, seconds: float) -> float:
    """The loudest sample, 0 to 1."""
    output = _decode(url, "-t", str(seconds), "-vn", "-ac", "1", "-f", "f32le")
    return float(np.abs(np.frombuffer(output, np.float32)).max())


def is_slate(frames: NDArray[np.uint8]) -> bool:
    """Two bright bars in the middle of a dark background."""
    height, width = frames.shape[1:]
    middle = frames[:, height // 2]
    dark = frames[:, : height // 4].max() < 60 and middle[:, width // 2].max() < 60
    return bool(dark and (middle.max(axis=1) > 100).all())


@dataclass(frozen=True)
class VideoFigures:
    width: int
    height: int
    profile: str
    framerate: float
    bitrate_bps: float
    gop_frames: int


def video_figures(url: str) -> VideoFigures:
    """Of three seconds."""
    command = [
        *("ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-select_streams", "v", "-of", "json"),
        *("-show_entries", "stream=width,height,profile:packet=pts_time,flags,size"),
        *("-read_intervals", "%+3", url),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    (stream,) = found["streams"]
    packets = [p for p in found["packets"] if "pts_time" in p]
    keys = [i for i, p in enumerate(packets) if "K" in p["flags"]]
    times = [float(p["pts_time"]) for p in packets]
    span_s = times[-1] - times[0]
    return VideoFigures(
        stream["width"],
        stream["height"],
        stream["profile"],
        (len(times) - 1) / span_s,
        sum(int(p["size"]) for p in packets) * 8 / span_s,
        keys[-1] - keys[-2],  # an encode begins with closer ones
    )


def _decode(url: str, *options: str) -> bytes:
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", *_input(url)]
    return subprocess.run([*command, *options, "-"], check=True, capture_output=True, timeout=60).stdout


def _input(url: str) -> list[str]:
    return [*(["-rtsp_transport", "tcp"] if url.startswith("rtsp") else []), "-i", url]
