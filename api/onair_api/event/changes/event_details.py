"""What a write leaves for its events: in an annotation, and in Redis what a diff cannot tell."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from redis.exceptions import RedisError

from onair_api.cache.view import Entry
from onair_api.event.custom.bus import Bus
from onair_crds.contract.labels import REQUEST_ANNOTATION

log = structlog.get_logger()

KEY = "onair:batch:{}"
KEEP_S = 60
FIND_WITHIN_S = 0.25


@dataclass(frozen=True)
class Note:
    nonce: str
    session_id: str | None
    metadata: dict[str, Any] | None


def note_of(entry: Entry | None) -> Note | None:
    """The note on an object; None where there is none, or one that is not ours."""
    text = ((entry.metadata.get("annotations") or {}) if entry else {}).get(REQUEST_ANNOTATION)
    if not isinstance(text, str):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("nonce"), str):
        return None
    session_id, metadata = value.get("sessionId"), value.get("requestMetadata")
    return Note(
        value["nonce"],
        session_id if isinstance(session_id, str) else None,
        metadata if isinstance(metadata, dict) else None,
    )


class BatchNotes:
    """What an event of a write is to say beyond the diff, by the write's nonce, for a minute."""

    def __init__(self, bus: Bus | None) -> None:
        self._bus = bus

    @property
    def reachable(self) -> bool:
        return self._bus is not None and self._bus.connected

    async def keep(self, nonce: str, record: dict[str, Any]) -> None:
        """Never fails the write: where it cannot be kept the event falls back to the diff."""
        if self._bus is None or not self.reachable:
            return
        try:
            await self._bus.redis.set(KEY.format(nonce), orjson.dumps(record), ex=KEEP_S)
        except (TimeoutError, RedisError, OSError, orjson.JSONEncodeError) as error:
            log.warning("batch_note.not_kept", error=type(error).__name__)

    async def find(self, nonce: str) -> dict[str, Any] | None:
        if self._bus is None or not self.reachable:
            return None
        try:
            text = await asyncio.wait_for(self._bus.redis.get(KEY.format(nonce)), FIND_WITHIN_S)
            value = orjson.loads(text) if text else None
        except (TimeoutError, RedisError, OSError, orjson.JSONDecodeError) as error:
            log.warning("batch_note.not_read", error=type(error).__name__)
            return None
        return value if isinstance(value, dict) else None
