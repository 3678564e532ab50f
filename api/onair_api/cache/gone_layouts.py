"""Layouts that were deleted a moment ago: where they were.

Clients delete a project and its layouts at once, in no order: a layout that went with its project is as
deleted as its client wants it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from cachetools import TTLCache

from onair_crds.kube.store import Entry

KEPT_S = 60.0
MOST = 10_000


class Place(NamedTuple):
    """Where a layout was."""

    collection_id: str
    project_id: str
    project_uid: str


class GoneLayouts:
    """Remembers where deleted layouts were, for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._places: TTLCache[str, Place] = TTLCache(MOST, KEPT_S, clock)

    def remember(self, layout: Entry) -> None:
        self._places[layout.name] = place_of(layout)

    def place(self, name: str) -> Place | None:
        """Where a layout was that went within the last minute."""
        return self._places.get(name)


def place_of(layout: Entry) -> Place:
    """The collection and project of a layout, with the project's uid where it has an owner reference."""
    references = layout.metadata.get("ownerReferences") or ()
    uid = next((str(each.get("uid")) for each in references if each.get("kind") == "Project"), "")
    return Place(str(layout.spec.get("collectionId")), str(layout.spec.get("projectId")), uid)
