"""Snapshots of the programme: its last key frame as JPEG, decoded on demand, once for all requests."""

from __future__ import annotations

import asyncio

from onair_crds.media.flv import Packet, encode_file
from onair_encoder.media.fan_out import FanOut
from onair_encoder.process.start import start

DECODE_TIMEOUT_S = 5.0
TO_JFIF = (
    "scale=in_color_matrix=bt709:in_range=tv:out_color_matrix=bt601:out_range=pc:"
    "flags=accurate_rnd+full_chroma_int+full_chroma_inp,format=yuvj420p"
)
"""A JPEG cannot name its matrix: everybody takes it for BT.601. By itself ffmpeg converts the range alone."""
COMMAND = [
    *("nice", "-n", "15", "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-threads", "1"),
    *("-f", "flv", "-i", "pipe:0", "-frames:v", "1", "-vf", TO_JFIF),
    *("-c:v", "mjpeg", "-q:v", "3", "-f", "image2", "pipe:1"),
]


class NoSnapshot(Exception):
    """Nothing was encoded yet, or it could not be decoded."""


class Snapshots:
    """However many requests there are, each key frame is decoded at most once, and one at a time."""

    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out
        self._lock = asyncio.Lock()
        self._decoded: tuple[Packet, bytes] | None = None

    async def jpeg(self) -> bytes:
        """The last key frame, at most one key-frame interval old.

        Raises:
            NoSnapshot: there is none.
        """
        async with self._lock:
            packets = self._fan_out.last_keyframe()
            if packets is None:
                raise NoSnapshot("nothing was encoded yet")
            keyframe = packets[-1]
            if self._decoded is None or self._decoded[0] is not keyframe:
                self._decoded = keyframe, await self._decode(packets)
            return self._decoded[1]

    async def _decode(self, packets: list[Packet]) -> bytes:
        try:
            process = await start(*COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        except OSError as error:
            raise NoSnapshot("no process could be started to decode it") from error
        try:
            async with asyncio.timeout(DECODE_TIMEOUT_S):
                output, _ = await process.communicate(encode_file(packets))
        except TimeoutError as error:
            raise NoSnapshot("decoding took too long") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if not output:
            raise NoSnapshot("the key frame could not be decoded")
        return output
