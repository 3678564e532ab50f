"""Pulls a stream, decodes it and measures what arrived. ffmpeg and ffprobe decode; numpy measures."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.media import painted
from tests.support.media.heard import RATE_HZ, heard

WINDOW_S = 10.0


@dataclass(frozen=True)
class RecordedFile:
    """A stream as it came, in a file."""

    path: Path
    duration_s: float


@dataclass(frozen=True)
class MediaReport:
    video_codec: str
    profile: str
    width: int
    height: int
    fps: float
    frames: int
    video_bitrate_bps: float
    key_frame_distance_max: int
    video_hole_max_s: float
    """Largest step between frames beyond one frame."""
    audio_codec: str
    sample_rate_hz: int
    channels: int
    audio_hole_max_s: float
    tone_hz: float
    undecodable_percent: float
    missing_percent_by_window: list[float] = field(default_factory=list)
    """Nominal frames never seen, in each window of 10 s."""
    clicks: int = 0
    flashes: int = 0
    av_offset_ms: float | None = None
    """By clicks and flashes."""
    av_distance_ms: float | None = None
    """By clicks and the clock on the frames: more precise, for what changes slowly."""

    @property
    def missing_percent(self) -> float:
        """Of the best window."""
        return min(self.missing_percent_by_window, default=100.0)

    def __str__(self) -> str:
        offset = "unknown" if self.av_offset_ms is None else f"{self.av_offset_ms:+.0f} ms"
        codec = {"h264": "H.264", "aac": "AAC"}
        channels = {1: "mono", 2: "stereo"}.get(self.channels, f"{self.channels} channels")
        return (
            f"{codec.get(self.video_codec, self.video_codec)} {self.profile} {self.width}×{self.height}"
            f" {self.fps:.1f} fps {self.video_bitrate_bps / 1e6:.1f} Mbit/s ·"
            f" {codec.get(self.audio_codec, self.audio_codec)} {self.sample_rate_hz // 1000} kHz {channels}\n"
            f"{self.frames} frames, {self.missing_percent:.1f} % missing · A/V offset {offset}"
        )


def _run(*command: str, timeout_s: float = 120) -> bytes:
    done = subprocess.run(command, check=False, capture_output=True, timeout=timeout_s)
    assert done.returncode == 0, f"{command[0]}: {done.stderr.decode(errors='replace')[-500:]}"
    return done.stdout


def _input(url: str) -> list[str]:
    return ["-rtsp_transport", "tcp", "-i", url] if url.startswith("rtsp") else ["-i", url]


def record(url: str, duration_s: float, folder: Path) -> RecordedFile:
    """Copies a stream into a file, without touching a packet."""
    path = folder / "recording.mkv"
    _run(
        *("ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-nostdin", *_input(url)),
        *("-t", f"{duration_s}", "-c", "copy", "-f", "matroska", str(path)),
        timeout_s=duration_s + 30,
    )
    return RecordedFile(path, duration_s)


def _probe(path: Path, *arguments: str) -> dict[str, Any]:
    text = _run("ffprobe", "-v", "error", "-of", "json", *arguments, str(path))
    document: dict[str, Any] = json.loads(text)
    return document


def _packets(path: Path, stream: str) -> list[dict[str, Any]]:
    entries = "packet=pts_time,size,flags"
    packets: list[dict[str, Any]] = _probe(path, "-select_streams", stream, "-show_entries", entries)[
        "packets"
    ]
    return [p for p in packets if "pts_time" in p]


def _hole_s(packets: list[dict[str, Any]], nominal_s: float) -> float:
    times = sorted(float(p["pts_time"]) for p in packets)
    return max((b - a - nominal_s for a, b in pairwise(times)), default=0.0)


def analyse(recording: RecordedFile, asked_fps: float = 30) -> MediaReport:
    """Decodes a recording of the probe page, which counts `asked_fps` ticks a second."""
    path = recording.path
    streams = {s["codec_type"]: s for s in _probe(path, "-show_streams")["streams"]}
    video, audio = streams["video"], streams["audio"]
    video_packets, audio_packets = _packets(path, "v:0"), _packets(path, "a:0")
    times = [float(p["pts_time"]) for p in video_packets]
    span_s = times[-1] - times[0]
    fps = (len(video_packets) - 1) / span_s
    keys = [i for i, p in enumerate(video_packets) if p["flags"].startswith("K")]
    width, height = int(video["width"]), int(video["height"])
    frames = _gray(path, width, height)
    times = times[: len(frames)]
    read = [painted.read_frame(frame) for frame in frames]
    first_audio_s, samples = heard(path)
    clicks = [first_audio_s + t for t in painted.click_times(samples, RATE_HZ)]
    flashes = painted.flash_times(frames, times)
    return MediaReport(
        video_codec=video["codec_name"],
        profile=video.get("profile", ""),
        width=width,
        height=height,
        fps=fps,
        frames=len(frames),
        video_bitrate_bps=sum(int(p["size"]) for p in video_packets) * 8 / (span_s + 1 / fps),
        key_frame_distance_max=max((b - a for a, b in pairwise(keys)), default=len(video_packets)),
        video_hole_max_s=_hole_s(video_packets, 1 / fps),
        audio_codec=audio["codec_name"],
        sample_rate_hz=int(audio["sample_rate"]),
        channels=int(audio["channels"]),
        audio_hole_max_s=_hole_s(audio_packets, 1024 / RATE_HZ),
        tone_hz=painted.tone_hz(samples[: RATE_HZ * 5], RATE_HZ),
        undecodable_percent=100 * sum(r is None for r in read) / max(1, len(read)),
        missing_percent_by_window=_windows(read, asked_fps),
        clicks=len(clicks),
        flashes=len(flashes),
        av_offset_ms=painted.av_offset_ms(clicks, flashes),
        av_distance_ms=painted.av_distance_ms(clicks, times, read),
    )


def _windows(read: list[painted.Painted | None], fps: float) -> list[float]:
    count = round(WINDOW_S * fps)
    if len(read) < count:
        return [painted.missing_percent(read, len(read))]
    starts = range(0, len(read) - count + 1, count)
    return [painted.missing_percent(read[start : start + count], count) for start in starts]


def _gray(path: Path, width: int, height: int) -> painted.Gray:
    raw = _run(
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-i", str(path), "-map", "0:v:0", "-fps_mode"),
        *("passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"),
    )
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width)


def live_latency_ms(url: str, frames: int = 90, width: int = 640, height: int = 360) -> list[float]:
    """How old each frame is when it has arrived and been decoded: page and reader share one clock.

    The first frames do not count: a reader is given the GOP that began before it connected.
    """
    command = [
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-fflags", "nobuffer", "-flags", "low_delay"),
        *("-probesize", "50000", "-analyzeduration", "0", *_input(url), "-an", "-fps_mode", "passthrough"),
        *("-vf", f"scale={width}:{height}", "-f", "rawvideo", "-pix_fmt", "gray", "-"),
    ]
    ages: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        watchdog = threading.Timer(frames / 10 + 20, process.kill)  # a stream that stalls ends the read
        watchdog.start()
        for _ in range(frames + 60):
            raw = process.stdout.read(width * height)
            if len(raw) < width * height:
                break
            seen = painted.read_frame(np.frombuffer(raw, np.uint8).reshape(height, width))
            if seen:
                ages.append(time.time() * 1000 - seen.wall_ms)
        watchdog.cancel()
        process.terminate()
    return ages[60:]


def picture(recording: RecordedFile, path: Path) -> Path:
    """Saves a frame from the middle of a recording."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _run(
        *("ffmpeg", "-loglevel", "error", "-y", "-nostdin", "-ss", f"{recording.duration_s / 2}"),
        *("-i", str(recording.path), "-frames:v", "1", "-q:v", "2", str(path)),
    )
    return path
