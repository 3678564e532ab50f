"""Deletion of many objects that go with another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from onair_api.errors import NotFound
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Writer
from onair_crds.kube.store import Entry

PARALLEL = 16


async def remove_all(writer: Writer, entries: Iterable[Entry], note: RequestNote) -> None:
    """Deletes all of them, whatever version they are at now; those already gone do not matter.

    Raises:
        ApiError: the API server did not respond. What is left is deleted when the caller retries, or
            with its owner.
    """
    turns = asyncio.Semaphore(PARALLEL)

    async def remove(entry: Entry) -> None:
        async with turns:
            try:
                await writer.delete(entry, note)
            except NotFound:
                return

    await asyncio.gather(*(remove(entry) for entry in entries))
