"""Which destinations publish as one stream while they are on air, over all projects.

Streams are known only by fingerprints, as keys are secrets, and only in memory: a process that begins to
lead finds them out as it looks at its shows.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

SETTLING_S = 10.0
"""How long a process that begins to lead may take to have looked at all shows."""


class Claimant(NamedTuple):
    """A destination that publishes as a stream."""

    project: str
    destination: str


class ClaimedStreams:
    """Knows which destinations publish as the same stream."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._of: dict[str, Mapping[str, str]] = {}
        """Fingerprints by destination, by project."""
        self._claimants: dict[str, set[Claimant]] = defaultdict(set)
        """By fingerprint."""

    @property
    def settling_s(self) -> float:
        """For how much longer not all shows may be known; 0 from then on."""
        return max(0.0, self._began + SETTLING_S - self._clock())

    def of(self, project: str) -> Mapping[str, str]:
        """What a project publishes: fingerprints by destination."""
        return self._of.get(project, {})

    def rivals(self, project: str) -> dict[str, Claimant]:
        """Rivals by destination of a project: the first one of another project that publishes the same."""
        found: dict[str, Claimant] = {}
        for destination, stream in self.of(project).items():
            if len(others := self._claimants[stream]) > 1:
                rival = min((each for each in others if each.project != project), default=None)
                found |= {destination: rival} if rival else {}
        return found

    def claim(self, project: str, streams: Mapping[str, str]) -> set[str]:
        """Notes all that a project publishes; gives the projects whose rivals are others now."""
        before = {Claimant(project, name): stream for name, stream in self.of(project).items()}
        after = {Claimant(project, name): stream for name, stream in streams.items()}
        affected: set[str] = set()
        for claimant, stream in before.items() - after.items():
            affected |= self._remove(claimant, stream)
        for claimant, stream in after.items() - before.items():
            affected |= self._add(claimant, stream)
        if streams:
            self._of[project] = dict(streams)
        else:
            self._of.pop(project, None)
        return affected

    def _add(self, claimant: Claimant, stream: str) -> set[str]:
        """Of many alike, those that were there have a rival already."""
        claimants = self._claimants[stream]
        affected = {each.project for each in claimants} if len(claimants) == 1 else set()
        claimants.add(claimant)
        return affected | ({claimant.project} if len(claimants) > 1 else set())

    def _remove(self, claimant: Claimant, stream: str) -> set[str]:
        claimants = self._claimants[stream]
        named = claimant in sorted(claimants)[:2]
        claimants.discard(claimant)
        if not claimants:
            del self._claimants[stream]
        return {each.project for each in claimants} | {claimant.project} if claimants and named else set()
