"""The slate, which goes out while there is no video: a still of the programme's format, and silence.

It is encoded once, with the options of the programme, so that decoders see no
change of format; after that it costs next to nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import cycle

from onair_crds.contract.program import Program, ProgramAudio, ProgramVideo
from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, FlvReader, Packet
from onair_crds.runtime.stderr_log import log
from onair_encoder.encode.codec_options import codec_options, encoded_rate
from onair_encoder.process.start import start

AAC_FRAME_SAMPLES = 1024
LONGEST_GOP_S = 2.0
ENCODE_TIMEOUT_S = 30.0
BACKGROUND, MARK = "0x10151d", "0x8a97a8"


def slate_command(program: Program) -> list[str]:
    """Two GOPs of a pause sign on a dark background, and as much silence, as FLV."""
    video, audio = program.video, program.audio
    gop = gop_frames(video)
    # In eighths of the height: two bars in the middle, on even pixels as 4:2:0 needs
    unit = max(2, video.height // 16 * 2)
    top, left = (video.height - 2 * unit) // 2, video.width // 2
    bar = f"y={top}:w={unit // 2}:h={2 * unit}:color={MARK}:t=fill"
    still = (
        f"color=c={BACKGROUND}:s={video.width}x{video.height}:r={encoded_rate(video.framerate)},"
        f"format=gbrp,drawbox=x={left - unit * 3 // 4}:{bar},drawbox=x={left + unit // 4}:{bar}"
    )
    layout = "stereo" if audio.channels == 2 else "mono"
    return [
        *("nice", "-n", "10", "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error"),
        *("-f", "lavfi", "-i", still),
        *("-f", "lavfi", "-i", f"anullsrc=r={audio.sample_rate_hz}:cl={layout}"),
        *codec_options(program),
        # Not by a shorter -g, on which the sequence header depends
        *("-force_key_frames:v", f"expr:not(mod(n,{gop}))"),
        *("-t", f"{float(2 * gop / encoded_rate(video.framerate)):.6f}"),
        *("-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
    ]


def gop_frames(video: ProgramVideo) -> int:
    """The programme's key-frame interval, limited so that little has to be kept."""
    return max(1, min(video.keyframe_interval_frames, round(video.framerate * LONGEST_GOP_S)))


class Slate:
    """Packets that can be repeated endlessly."""

    def __init__(self, packets: list[Packet], video: ProgramVideo, audio: ProgramAudio) -> None:
        self.headers = [p for p in packets if p.type == SCRIPT or p.header]
        self._frames = [p.body for p in packets if p.type == VIDEO and not p.header]
        self._audio = [p.body for p in packets if p.type == AUDIO and not p.header]
        self._frame_ms = 1000 / float(encoded_rate(video.framerate))
        self._audio_frame_ms = 1000 * AAC_FRAME_SAMPLES / audio.sample_rate_hz

    @classmethod
    async def encode(cls, program: Program) -> Slate | None:
        """Runs ffmpeg; None if that fails."""
        try:
            process = await start(
                *slate_command(program),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            log("slate.failed", error=str(error))
            return None
        try:
            async with asyncio.timeout(ENCODE_TIMEOUT_S):
                output, _ = await process.communicate()
        except TimeoutError:
            log("slate.failed", error="too slow")
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        packets = list(FlvReader().feed(output))
        if not any(p.keyframe for p in packets):
            log("slate.failed", error=f"ffmpeg ended with {process.returncode}")
            return None
        return cls(packets, program.video, program.audio)

    def packets(self) -> Iterator[Packet]:
        """Endless media, in order of time from 0; begins with a key frame."""
        video, audio = cycle(self._frames), cycle(self._audio)
        frames = audio_frames = 0
        while True:
            if not self._audio or frames * self._frame_ms <= audio_frames * self._audio_frame_ms:
                yield Packet(VIDEO, round(frames * self._frame_ms), next(video))
                frames += 1
            else:
                yield Packet(AUDIO, round(audio_frames * self._audio_frame_ms), next(audio))
                audio_frames += 1
