"""What publishers send: ffmpeg with the defaults of OBS, and variants of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Self

# OBS' defaults: x264 "veryfast", CBR, two B-frames, a key frame every 2 s; AAC at 48 kHz, stereo
X264 = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-bf", "2")
AAC = ("-c:a", "aac", "-b:a", "96k")


def picture(size: str = "320x180", framerate: int = 30) -> list[str]:
    """Input: a moving picture."""
    return ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate={framerate}"]


def tone(rate_hz: int = 48_000, channels: int = 2) -> list[str]:
    """Input: a tone."""
    layout = "mono" if channels == 1 else "stereo"
    source = f"sine=frequency=440:sample_rate={rate_hz},aformat=channel_layouts={layout}"
    return ["-f", "lavfi", "-i", source]


SIZES = ((320, 180), (180, 320))
COPIED = ("-c", "copy", "-g", "0")
"""Options for what is encoded already."""


def resized(folder: Path, seconds: int = 4) -> list[str]:
    """Input, to be copied: a picture that changes from the first to the second of SIZES in mid-stream."""
    clips = [folder / f"{width}x{height}.ts" for width, height in SIZES]
    for clip in clips:
        command = ["ffmpeg", "-loglevel", "error", "-y", *picture(clip.stem), "-t", str(seconds)]
        command += ["-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-pix_fmt", "yuv420p"]
        subprocess.run([*command, "-f", "mpegts", str(clip)], check=True)
    both = folder / "resized.ts"
    both.write_bytes(b"".join(clip.read_bytes() for clip in clips))
    return ["-i", str(both)]


def late_audio(folder: Path, late_s: float, seconds: int = 10) -> list[str]:
    """Input, to be copied: video, and audio that begins later.

    As it comes from MPEG-TS, ffmpeg sends the audio's configuration with its first packet: it does not know
    it before.
    """
    clip = folder / "late-audio.ts"
    command = ["ffmpeg", "-loglevel", "error", "-y", *picture(), "-itsoffset", f"{late_s}", *tone()]
    command += ["-t", str(seconds), *X264, "-bf", "0", "-g", "60", *AAC, "-f", "mpegts", str(clip)]
    subprocess.run(command, check=True)
    return ["-i", str(clip)]


class FfmpegEncoder:
    """An ffmpeg that publishes in real time. Use as a context manager."""

    def __init__(
        self,
        url: str,
        *,
        video: list[str] | None = None,
        audio: list[str] | None = None,
        options: tuple[str, ...] = (),
        log: Path | None = None,
    ) -> None:
        video = picture() if video is None else video
        audio = tone() if audio is None else audio
        inputs = [part for each in (video, audio) if each for part in ("-re", *each)]
        keyed = ("-g", "60") if video and "-g" not in options else ()
        codecs = [*(X264 if video else ()), *keyed, *(AAC if audio else ()), *options]
        container = ["-f", "mpegts"] if url.startswith("srt:") else ["-f", "flv"]
        self._command = ["ffmpeg", "-nostdin", "-loglevel", "error", *inputs, *codecs, *container, url]
        self._log = log

    def __enter__(self) -> Self:
        output = self._log.open("ab") if self._log else subprocess.DEVNULL
        self.process = subprocess.Popen(self._command, stdout=output, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def ends(self, timeout_s: float = 15.0) -> int:
        """Waits until it gives up; returns its exit code."""
        return self.process.wait(timeout_s)
