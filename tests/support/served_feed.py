"""A feed of scenes that pages can connect to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.waiting import until

from onair_encoder.scene.feed import SceneFeed


class ServedFeed:
    """A feed that is served, and how often it has said that something changed."""

    def __init__(self, folder: Path) -> None:
        self.changes = 0
        self.feed = SceneFeed(folder / "scene.json", folder / "compositor", self._changed)
        self.address = ""

    def _changed(self) -> None:
        self.changes += 1

    async def until(self, condition: Callable[[], object]) -> None:
        await until(condition)
