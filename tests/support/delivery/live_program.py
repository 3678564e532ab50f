"""A programme in real time for destinations: a real ffmpeg's, in a fan-out of this process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from tests.support.waiting import until

from onair_crds.media.flv import FlvReader
from onair_encoder.media.fan_out import FanOut

WIDTH, HEIGHT, FRAMERATE, GOP = 320, 180, 30, 30


PICTURE = f"testsrc2=size={WIDTH}x{HEIGHT}:rate={FRAMERATE}"
SOUND = "sine=frequency=1000:sample_rate=48000"


def command(
    video_kbps: int = 400, options: Sequence[str] = (), picture: str = PICTURE, sound: str = SOUND
) -> list[str]:
    """A test pattern with a clock, a 1 kHz tone; encoded by the options of `encode/ffmpeg_command.py`."""
    rate = f"{video_kbps}k"
    return [
        *("ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-re"),
        *("-f", "lavfi", "-i", picture),
        *("-f", "lavfi", "-i", sound),
        *("-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-pix_fmt", "yuv420p"),
        *("-b:v", rate, "-maxrate", rate, "-bufsize", rate, "-x264-params", "nal-hrd=cbr"),
        *("-g", str(GOP), "-keyint_min", str(GOP), "-sc_threshold", "0", "-bf", "0"),
        *("-c:a", "aac", "-b:a", "128k", "-ac", "2", "-flags", "+global_header", *options),
        *("-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
    ]


@contextlib.asynccontextmanager
async def live_program(
    video_kbps: int = 400,
    options: Sequence[str] = (),
    picture: str = PICTURE,
    sound: str = SOUND,
    into: FanOut | None = None,
) -> AsyncIterator[FanOut]:
    """A fan-out whose packets come from ffmpeg for as long as the context lasts.

    Args:
        into: a fan-out that another programme fed before.
    """
    fan_out = into or FanOut()
    process = await asyncio.create_subprocess_exec(
        *command(video_kbps, options, picture, sound),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    feeding = asyncio.create_task(_feed(process, fan_out))
    try:
        await until(lambda: fan_out.has_media, "the programme begins")
        yield fan_out
    finally:
        feeding.cancel()
        process.kill()
        await process.wait()


async def _feed(process: asyncio.subprocess.Process, fan_out: FanOut) -> None:
    assert process.stdout
    reader = FlvReader()
    fan_out.stream_begins()
    while data := await process.stdout.read(65536):
        for packet in reader.feed(data):
            fan_out.put(packet)
