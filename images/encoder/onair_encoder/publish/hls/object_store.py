"""The objects under a destination's prefix; what a storage recovers from within the timeout is retried."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from onair_crds.contract.program import ProgramStorage
from onair_crds.runtime.stderr_log import log
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket import Bucket
from onair_encoder.publish.hls.bytes_taken import BytesTaken
from onair_encoder.publish.supplied_destination import SuppliedDestination

Result = TypeVar("Result")
RETRY_S = 0.5
"""Between attempts while the timeout has not passed, and at the end."""
PLAYLIST_TYPE, SEGMENT_TYPE = "application/vnd.apple.mpegurl", "video/mp2t"
NO_CACHE, CACHE_FOREVER = "no-cache", "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class StoredText:
    """A text in the storage, with the version that it was read at."""

    text: str
    etag: str


class ObjectStore:
    """Reads, writes and deletes the objects under a destination's prefix."""

    def __init__(self, destination: SuppliedDestination, storage: ProgramStorage) -> None:
        self._destination = destination
        self._prefix = storage.prefix.strip("/")
        self.taken = BytesTaken()
        self._bucket = self._bucket_of(storage)
        self._closing: set[asyncio.Task[None]] = set()

    def _bucket_of(self, storage: ProgramStorage) -> Bucket:
        return Bucket(storage, self._timeout_s, self._destination.run.inside, self.taken)

    def _timeout_s(self) -> float:
        return self._destination.timeout_s

    def update(self, storage: ProgramStorage) -> None:
        """Takes other credentials or terms with the next request; those under way are not cancelled."""
        task = asyncio.create_task(self._bucket.close_when_idle())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        self._bucket = self._bucket_of(storage)

    async def put_segment(self, name: str, data: bytes | bytearray) -> None:
        """Stores a segment, which may be cached for ever.

        Raises:
            SessionError: it is not known to be stored.
        """
        await self._put(name, data, SEGMENT_TYPE, CACHE_FOREVER)
        self.taken.stored()

    async def put_note(self, name: str, text: bytes) -> None:
        """Stores a playlist that is of use, and not needed: it is tried once.

        Raises:
            SessionError: it is not known to be stored.
        """
        await self._bucket.put(self._key(name), text, PLAYLIST_TYPE, NO_CACHE)

    async def put_playlist(self, name: str, text: bytes, if_match: str = "") -> str:
        """Stores a playlist; gives its ETag.

        Args:
            if_match: of the object that it may replace; empty for any or none.

        Raises:
            Changed: there is another.
            SessionError: it is not known to be stored.
        """
        return await self._put(name, text, PLAYLIST_TYPE, NO_CACHE, if_match)

    async def _put(
        self, name: str, data: bytes | bytearray, content_type: str, cache_control: str, if_match: str = ""
    ) -> str:
        key = self._key(name)
        return await self._retried(lambda: self._bucket.put(key, data, content_type, cache_control, if_match))

    async def _retried(self, request: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Retries within the timeout, without a report.

        Raises:
            SessionError: no progress for that long, or an error that time does not fix.
        """
        began, destination = time.monotonic(), self._destination
        while True:
            try:
                return await request()
            except SessionError as error:
                over = time.monotonic() + RETRY_S - began > destination.timeout_s
                if error.permanent or over or not destination.is_connected or destination.stop.is_set():
                    raise
                log("hls.retried", id=destination.wanted.id, error=str(error))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_S):
                        await destination.stop.wait()

    async def get(self, name: str, most_bytes: int | None = None) -> StoredText:
        """An object's text; empty if there is none.

        Args:
            most_bytes: what is beyond is not read; None for all.

        Raises:
            NotReadable: the credentials do not allow it.
            SessionError: it is not known.
        """
        found = await self._retried(lambda: self._bucket.get(self._key(name), most_bytes))
        data, etag = found or (b"", "")
        # What is ours is ASCII, and whatever else there is takes no longer
        return StoredText(data.decode("latin-1"), etag)

    async def delete(self, name: str) -> None:
        """Deletes an object.

        Raises:
            SessionError: it may still exist.
        """
        await self._bucket.delete(self._key(name))

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name

    async def close(self) -> None:
        await self._bucket.close()
