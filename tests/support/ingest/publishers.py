"""Publishers that are not a plain ffmpeg: GStreamer, srt-live-transmit, and ffmpeg that reconnects."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Self

from tests.support.ingest.encoder import AAC, X264, picture, tone

GROWS = ("queue", "max-size-time=0", "max-size-buffers=0", "max-size-bytes=0")
"""x264enc looks ahead; audio waits for it."""
MPEG_TS = ("mpegtsmux", "alignment=7")
FLV = ("flvmux", "streamable=true", "min-upstream-latency=2000000000")
"""Nanoseconds: flvmux that does not wait for x264enc gives frames the times of the audio that it has sent."""


class PipelinePublisher:
    """Programs of which each writes to the next one. Use as a context manager.

    Args:
        log: takes what they print.
    """

    def __init__(self, *commands: list[str], log: Path) -> None:
        self._commands, self._log = commands, log

    def __enter__(self) -> Self:
        self._processes: list[subprocess.Popen[bytes]] = []
        with self._log.open("ab") as log:
            for command in self._commands:
                taken = self._processes[-1].stdout if self._processes else subprocess.DEVNULL
                given = log if command is self._commands[-1] else subprocess.PIPE
                self._processes.append(subprocess.Popen(command, stdin=taken, stdout=given, stderr=log))
        for process in self._processes:
            if process.stdout:
                process.stdout.close()  # its reader has it, and it alone
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    @property
    def runs(self) -> bool:
        return all(process.poll() is None for process in self._processes)


class GStreamer(PipelinePublisher):
    """x264 with B-frames and AAC by gst-launch-1.0, in real time, 320×180 at 30 fps.

    Args:
        sink: the element that publishes, with its properties.
    """

    def __init__(self, *sink: str, log: Path) -> None:
        muxer = MPEG_TS if sink[0] == "srtsink" else FLV
        command = [
            *("gst-launch-1.0", "-q", *muxer, "name=mux", "!", *sink),
            *("videotestsrc", "is-live=true", "!"),
            *("video/x-raw,format=I420,width=320,height=180,framerate=30/1", "!"),
            *("x264enc", "speed-preset=veryfast", "bframes=2", "b-adapt=false", "key-int-max=30"),
            *("rc-lookahead=5", "sync-lookahead=0", "!", "video/x-h264,profile=main", "!"),
            *("h264parse", "!", *GROWS, "!", "mux."),
            *("audiotestsrc", "is-live=true", "!", "audio/x-raw,rate=48000,channels=2", "!"),
            *("voaacenc", "!", "aacparse", "!", *GROWS, "!", "mux."),
        ]
        super().__init__(command, log=log)


class SrtLiveTransmit(PipelinePublisher):
    """What ffmpeg encodes as OBS does, sent by srt-live-transmit, which reconnects by itself."""

    def __init__(self, url: str, log: Path) -> None:
        inputs = [part for each in (picture(), tone()) for part in ("-re", *each)]
        encode = ["ffmpeg", "-nostdin", "-loglevel", "error", *inputs, *X264, "-g", "30", *AAC]
        send = ["srt-live-transmit", "-chunk:1316", "file://con", url]
        super().__init__([*encode, "-f", "mpegts", "pipe:1"], send, log=log)


class FfmpegThatReconnects(PipelinePublisher):
    """What OBS encodes, by RTMP, tried again half a second after each failure."""

    def __init__(self, url: str, log: Path) -> None:
        inputs = [part for each in (picture(), tone()) for part in ("-re", *each)]
        encode = ["ffmpeg", "-nostdin", "-loglevel", "error", *inputs, *X264, "-g", "30", *AAC]
        again = ["-attempt_recovery", "1", "-recover_any_error", "1", "-recovery_wait_time", "0.5"]
        dropped = ["-drop_pkts_on_overflow", "1", "-restart_with_keyframe", "1"]
        fifo = ["-flags", "+global_header", "-map", "0", "-map", "1", "-f", "fifo", "-fifo_format", "flv"]
        super().__init__([*encode, *fifo, *again, *dropped, url], log=log)
