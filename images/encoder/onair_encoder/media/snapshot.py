"""A picture of the programme: its last key frame, decoded when somebody asks, once for all who ask."""

from __future__ import annotations

import asyncio

from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.flv import Packet, file_of

DECODE_TIMEOUT_S = 5.0
COMMAND = [
    *("nice", "-n", "15", "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-threads", "1"),
    *("-f", "flv", "-i", "pipe:0", "-frames:v", "1", "-c:v", "mjpeg", "-q:v", "3", "-f", "image2", "pipe:1"),
]


class NoPicture(Exception):
    """Nothing was encoded yet, or it could not be decoded."""


class Snapshots:
    """However many ask, at most one picture is made of each key frame, and one at a time."""

    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out
        self._lock = asyncio.Lock()
        self._made: tuple[Packet, bytes] | None = None

    async def jpeg(self) -> bytes:
        """The picture, at most one key-frame interval old.

        Raises:
            NoPicture: there is none.
        """
        async with self._lock:
            packets = self._fan_out.key_picture()
            if packets is None:
                raise NoPicture("nothing was encoded yet")
            keyframe = packets[-1]
            if self._made is None or self._made[0] is not keyframe:
                self._made = keyframe, await self._decode(packets)
            return self._made[1]

    async def _decode(self, packets: list[Packet]) -> bytes:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(DECODE_TIMEOUT_S):
                output, _ = await process.communicate(file_of(packets))
        except TimeoutError as error:
            raise NoPicture("decoding took too long") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if not output:
            raise NoPicture("the picture could not be decoded")
        return output
