"""Names of segments: of which run, the how many-th, and by which encoder. Pure.

`<run>-<number>.<epoch>.<process>.ts`. The last part is random, so that not even an agent that
was restarted gives a name twice: what is stored under a name never changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"([a-zA-Z0-9_-]+-)([0-9]{8,18})(?:\.([0-9]{1,18})\.([0-9a-f]+))?\.ts")


@dataclass(frozen=True)
class SegmentName:
    prefix: str
    """Of the run, with its last dash."""
    number: int
    epoch: int | None = None
    """None in names that earlier versions gave."""
    process: str = ""

    @classmethod
    def of(cls, name: str) -> SegmentName | None:
        """Parses a name; None if it is none of ours."""
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        return cls(found[1], int(found[2]), int(found[3]) if found[3] else None, found[4] or "")

    def __str__(self) -> str:
        by = "" if self.epoch is None else f".{self.epoch}.{self.process}"
        return f"{self.prefix}{self.number:08}{by}.ts"

    @property
    def tail(self) -> str:
        """The object in which its encoder notes the segments that no playlist names yet."""
        return f"{self.prefix}tail.{self.epoch}.{self.process}.m3u8"

    def later(self, by: int) -> SegmentName:
        return SegmentName(self.prefix, self.number + by, self.epoch, self.process)
