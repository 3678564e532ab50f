"""Stills of streams: the last key frame as JPEG, decoded on demand, once for all who ask."""

from __future__ import annotations

import asyncio
import sys

from onair_crds.contract.access_units import Record, UnitKind, split_config
from onair_ingest.readers.readers import Readers
from onair_ingest.readers.stream_feed import FeedEnded

KEY_FRAME_TIMEOUT_S = 11.0
"""Encoders send key frames up to 10 s apart."""
DECODE_TIMEOUT_S = 5.0
MAX_DECODERS = 2
COMMAND = (sys.executable, "-m", "onair_ingest.readers.still_process")


class NoStill(Exception):
    """There is no key frame, or it could not be decoded."""


class Stills:
    """Decodes stills of streams."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._decoders = asyncio.Semaphore(MAX_DECODERS)
        self._decoding: dict[str, asyncio.Task[bytes]] = {}

    async def jpeg(self, stream: str) -> bytes:
        """The last key frame; the next one of a stream that nobody reads.

        Raises:
            NoStream: it is not published here.
            NoStill: it has no video, or none that can be decoded.
        """
        task = self._decoding.get(stream)
        if task is None:
            task = self._decoding[stream] = asyncio.create_task(self._jpeg(stream))
            task.add_done_callback(lambda done: self._forget(stream, done))
        return await asyncio.shield(task)

    def _forget(self, stream: str, done: asyncio.Task[bytes]) -> None:
        del self._decoding[stream]
        if not done.cancelled():
            done.exception()  # whoever asked may have gone

    async def _jpeg(self, stream: str) -> bytes:
        async with self._readers.subscription(stream) as subscription:
            description = None
            try:
                async with asyncio.timeout(KEY_FRAME_TIMEOUT_S):
                    while True:
                        record = await subscription.next_record()
                        if record.kind is UnitKind.VIDEO_CONFIG:
                            description = split_config(record.payload)[1]
                        elif record.kind is UnitKind.VIDEO and record.key and description:
                            break
            except TimeoutError as error:
                raise NoStill("no key frame came") from error
            except FeedEnded as error:
                raise NoStill(str(error)) from error
        async with self._decoders:
            return await _decode(description, record)


async def _decode(description: bytes, record: Record) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(DECODE_TIMEOUT_S):
            given = len(description).to_bytes(4, "big") + description + record.payload
            output, _ = await process.communicate(given)
    except TimeoutError as error:
        raise NoStill("decoding took too long") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not output:
        raise NoStill("the key frame could not be decoded")
    return output
