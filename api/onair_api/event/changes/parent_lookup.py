"""Looks up the parents of a changed object that the watches have not brought.

The watches of the kinds break one by one, and one may be half a minute behind the others. Without its parents
nobody knows who may see a change.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from onair_api.event.changes.parents import Parents
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry

log = structlog.get_logger()

Find = Callable[[str, str], Awaitable[Entry | None]]
"""Finds an object by kind and name, also while it is being deleted; raises ApiError if nobody can say."""

LOOKUP_S = 2.0
"""For which one change waits for the API server to say; others of its kind wait with it."""
SHORTEST_S = 0.25
"""That the API server has to respond, however long the change has waited."""
PAUSE_S = 0.25
"""Until an API server that did not respond is sent another request."""


class ParentLookup:
    def __init__(self, parents: Parents, find: Find) -> None:
        """
        Args:
            parents: remembers those that are found.
        """
        self._parents = parents
        self._find = find
        self._ask_again_at = 0.0

    async def complete(self, entry: Entry, until: float) -> bool:
        """Has all parents of an object known, as far as they exist; says whether that is so.

        Args:
            until: when it is given up, in seconds of the monotonic clock. After that the API server is asked
                once more, unless it has just not responded: many changes may wait, and each had its time.
        """
        while missing := self._parents.missing(entry):
            now = time.monotonic()
            if now < self._ask_again_at:
                if self._ask_again_at >= until:
                    return False
                await asyncio.sleep(self._ask_again_at - now)
                continue
            try:
                async with asyncio.timeout(max(until - now, SHORTEST_S)):
                    found = await self._find(*missing)
            except (TimeoutError, ApiError) as error:
                log.warning("events.parent_not_found", kind=missing.kind, error=type(error).__name__)
                self._ask_again_at = time.monotonic() + PAUSE_S
                continue
            if found is None:
                return True
            self._parents.remember(found)
            if self._parents.missing(entry) == missing:  # a collection without an owner
                return True
        return True
