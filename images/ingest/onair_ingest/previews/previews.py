"""All previews of this gateway, by room, as the operator said last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog
from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import Video
from onair_crds.contract.previews import Preview as Wanted
from onair_crds.contract.previews import RoomPreviews
from onair_crds.contract.program import ProgramRtc
from onair_ingest.previews.preview_publisher import PreviewPublisher
from onair_ingest.previews.turns import Turns
from onair_ingest.readers.readers import Readers

log = structlog.get_logger()

JOINING = 2
"""Previews that begin at once."""


@dataclass(frozen=True)
class _Running:
    opening: int
    preview: PreviewPublisher
    task: asyncio.Task[None]

    def is_for(self, room: RoomPreviews, wanted: Wanted) -> bool:
        """Whether it shows what is wanted; if only the token differs, it continues."""
        settings = self.preview.settings
        return (self.opening, settings.url, settings.identity) == (room.opening, room.url, wanted.identity)

    def may_begin_with(self, token: SecretStr) -> bool:
        """Whether another session may begin: the last one was refused, and this token has not been tried.

        Tokens are renewed all the time: who was removed from a room does not come back with the next one.
        """
        return self.task.done() and not self.preview.removed and self.preview.settings.token != token


class Previews:
    def __init__(
        self,
        readers: Readers,
        video_of: Callable[[str], Video | None],
        most: int,
        waits: Callable[[str], None],
    ) -> None:
        """
        Args:
            video_of: what is known of a stream's video.
            most: previews at once; others wait until one ends.
            waits: called with each stream whose preview does.
        """
        self._readers, self._video_of, self._waits = readers, video_of, waits
        self._turns, self._joining = asyncio.Semaphore(most), asyncio.Semaphore(JOINING)
        self._rooms: dict[str, dict[str, _Running]] = {}

    @property
    def rooms(self) -> list[str]:
        return sorted(self._rooms)

    @property
    def wanted(self) -> int:
        return sum(map(len, self._rooms.values()))

    @property
    def joined(self) -> int:
        """How many are in their rooms."""
        return sum(each.preview.joined for room in self._rooms.values() for each in room.values())

    def set(self, room: str, wanted: RoomPreviews) -> None:
        """Begins and ends previews so that exactly these are published into a room."""
        running = self._rooms.setdefault(room, {})
        for stream, each in list(running.items()):
            if stream not in wanted.previews or not each.is_for(wanted, wanted.previews[stream]):
                running.pop(stream).task.cancel()
        for stream, preview in wanted.previews.items():
            settings = _settings(room, wanted, preview)
            known = running.get(stream)
            if known is None or known.may_begin_with(settings.token):
                running[stream] = self._begun(stream, wanted.opening, settings)
            else:
                known.preview.settings = settings
        if not running:
            del self._rooms[room]

    def _begun(self, stream: str, opening: int, settings: ProgramRtc) -> _Running:
        turns = Turns(self._turns, self._joining, partial(self._waits, stream))
        preview = PreviewPublisher(stream, settings, self._readers, turns, self._video_of)
        task = asyncio.create_task(preview.run(), name=f"preview of {settings.identity}")
        task.add_done_callback(_note_failure)
        return _Running(opening, preview, task)

    async def close(self) -> None:
        tasks = [each.task for room in self._rooms.values() for each in room.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _settings(room: str, wanted: RoomPreviews, preview: Wanted) -> ProgramRtc:
    return ProgramRtc(
        provider="livekit", url=wanted.url, token=preview.token, room=room, identity=preview.identity
    )


def _note_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("preview.broken", error=type(error).__name__)
