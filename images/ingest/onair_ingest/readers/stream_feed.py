"""One stream's records, handed to each of its readers: a slow one loses pictures, and holds up nobody."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from onair_crds.contract.access_units import Record, UnitKind

MAX_GOP_BYTES, MAX_GOP_RECORDS = 16 * 2**20, 4000
"""Of a group of pictures that is kept for late readers: beyond, they wait for the next key frame."""
MAX_BEHIND_S = 2.0
"""A reader whose oldest record has waited for so long is given nothing until the next key frame."""
MAX_BEHIND_BYTES = 2 * MAX_GOP_BYTES


@dataclass(frozen=True, slots=True)
class _QueuedRecord:
    record: Record
    since_s: float


class FeedEnded(Exception):
    """The stream ended; `code` is that of the WebSocket's close."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class ReaderQueue:
    """What one reader is yet to be sent."""

    def __init__(self, first: list[Record]) -> None:
        now_s = time.monotonic()
        self._queue = deque(_QueuedRecord(record, now_s) for record in first)
        self._bytes = sum(len(record.payload) for record in first)
        self._waits_for_key = not any(record.kind is UnitKind.VIDEO for record in first)
        self._gap = False
        self._ended: FeedEnded | None = None
        self._changed = asyncio.Event()
        self.dropped = 0
        """Records that this reader was too slow for."""

    def put(self, record: Record) -> None:
        now_s = time.monotonic()
        behind_s = now_s - self._queue[0].since_s if self._queue else 0.0
        if behind_s > MAX_BEHIND_S or self._bytes > MAX_BEHIND_BYTES:
            self._drop()
        if record.kind is UnitKind.VIDEO:
            if self._waits_for_key and not record.key:
                self.dropped += self._gap
                return
            self._waits_for_key = False
        self._queue.append(_QueuedRecord(record, now_s))
        self._bytes += len(record.payload)
        self._changed.set()

    def _drop(self) -> None:
        """Forgets all media that wait. The last configurations stay: what comes next is decoded with them."""
        configs = (UnitKind.VIDEO_CONFIG, UnitKind.AUDIO_CONFIG)
        kept = {each.record.kind: each.record for each in self._queue if each.record.kind in configs}
        self.dropped += len(self._queue) - len(kept)
        now_s = time.monotonic()
        self._queue = deque(_QueuedRecord(record, now_s) for record in kept.values())
        self._bytes = sum(len(record.payload) for record in kept.values())
        self._waits_for_key = self._gap = True

    def end(self, ended: FeedEnded) -> None:
        self._ended = ended
        self._changed.set()

    async def next(self) -> bytes:
        """The next record as it is sent.

        Raises:
            FeedEnded: there are no more.
        """
        return (await self.next_record()).encode()

    async def next_record(self) -> Record:
        """The next record.

        Raises:
            FeedEnded: there are no more.
        """
        while not self._queue:
            if self._ended:
                raise self._ended
            self._changed.clear()
            await self._changed.wait()
        record = self._queue.popleft().record
        self._bytes -= len(record.payload)
        if self._gap and record.kind is UnitKind.VIDEO:
            self._gap = False
            return Record(record.kind, record.pts_us, record.dts_us, record.payload, True, gap=True)
        return record


class StreamFeed:
    """Hands one stream's records to its readers."""

    def __init__(self) -> None:
        self._subscriptions: set[ReaderQueue] = set()
        self._configs: dict[UnitKind, Record] = {}
        self._gop: list[Record] = []
        self._gop_bytes = 0

    @property
    def readers(self) -> int:
        return len(self._subscriptions)

    @property
    def empty(self) -> bool:
        """Nothing that can be decoded has come."""
        return not self._configs

    def put(self, record: Record) -> None:
        if record.kind in (UnitKind.VIDEO_CONFIG, UnitKind.AUDIO_CONFIG):
            known = self._configs.get(record.kind)
            if known and known.payload == record.payload:
                return
            self._configs[record.kind] = record
            if record.kind is UnitKind.VIDEO_CONFIG:
                # The pictures before cannot be decoded with it
                self._forget()
        else:
            self._remember(record)
        for subscription in self._subscriptions:
            subscription.put(record)

    def _remember(self, record: Record) -> None:
        if record.kind is UnitKind.VIDEO and record.key:
            self._forget()
        if not self._gop and not (record.kind is UnitKind.VIDEO and record.key):
            return
        self._gop.append(record)
        self._gop_bytes += len(record.payload)
        if self._gop_bytes > MAX_GOP_BYTES or len(self._gop) > MAX_GOP_RECORDS:
            self._forget()

    def _forget(self) -> None:
        self._gop.clear()
        self._gop_bytes = 0

    def key_frame(self) -> tuple[Record, Record] | None:
        """The video's configuration and its last key frame, if they are known."""
        config = self._configs.get(UnitKind.VIDEO_CONFIG)
        return (config, self._gop[0]) if config and self._gop else None

    def subscribe(self) -> ReaderQueue:
        first = [self._configs[kind] for kind in sorted(self._configs)]
        subscription = ReaderQueue(first + self._gop)
        self._subscriptions.add(subscription)
        return subscription

    def unsubscribe(self, subscription: ReaderQueue) -> None:
        self._subscriptions.discard(subscription)

    def end(self, ended: FeedEnded) -> None:
        for subscription in self._subscriptions:
            subscription.end(ended)
