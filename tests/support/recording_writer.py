"""A writer that writes nothing."""

from __future__ import annotations

import copy

from onair_api.writes.writer import Note, SpecChange
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject


class RecordingWriter:
    """Notes which spec a change works out, and sees that it leaves the stored one as it is."""

    def __init__(self) -> None:
        self.wanted: list[JsonObject] = []

    async def update(self, entry: Entry, change: SpecChange, _: Note) -> tuple[Entry, Entry]:
        stored = copy.deepcopy(entry.spec)
        self.wanted.append(await change(entry))
        assert entry.spec == stored, "the stored spec is not changed in place"
        return entry, entry
