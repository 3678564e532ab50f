"""Deletes what a presentation no longer needs, in parallel to the uploads: no media waits for it."""

from __future__ import annotations

import asyncio
import contextlib

from onair_crds.runtime.stderr_log import log
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.object_store import ObjectStore
from onair_encoder.publish.hls.presentation import Presentation
from onair_encoder.publish.supplied_destination import SuppliedDestination

LAST_S = 1.0
"""For the last deletions, at the end."""


class Deletions:
    def __init__(
        self, destination: SuppliedDestination, store: ObjectStore, presentation: Presentation
    ) -> None:
        self._destination = destination
        self._store = store
        self._presentation = presentation
        self._withdrawn: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._refused = False
        """The last deletion failed: as long as that is so, one at a time is tried, and nothing is logged."""

    def withdraw(self, names: list[str]) -> None:
        """Deletes what no playlist ever named."""
        self._withdrawn += names
        self.begin()

    def begin(self) -> None:
        """Deletes what is obsolete now, unless that of the last time is still under way."""
        if self._task and not self._task.done():
            return
        names = [*self._withdrawn, *self._presentation.obsolete()]
        if names:
            self._task = asyncio.create_task(self._delete(names[:1] if self._refused else names))

    async def _delete(self, names: list[str]) -> None:
        results = await asyncio.gather(*map(self._store.delete, names), return_exceptions=True)
        errors = [error for error in results if error]
        for name, error in zip(names, results, strict=True):
            if error is None and name in self._withdrawn:
                self._withdrawn.remove(name)
            elif error is None:
                self._presentation.deleted(name)
        if errors and not self._refused:
            # Media is delivered nevertheless
            log("hls.not-deleted", id=self._destination.wanted.id, error=_text(errors[0]))
        elif self._refused and not errors:
            log("hls.deleted-again", id=self._destination.wanted.id)
        self._refused = bool(errors)
        self._destination.counters.undeleted = self._presentation.undeleted if errors else 0
        if self._withdrawn and not errors:
            await self._delete([*self._withdrawn])

    async def finish(self) -> None:
        """Deletes what is obsolete at the end, as far as that is soon done."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                for _ in range(2):
                    if self._task:
                        await asyncio.shield(self._task)
                    self.begin()

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _text(error: BaseException) -> str:
    """An error of ours may hold a key in its text."""
    return str(error) if isinstance(error, SessionError) else type(error).__name__
