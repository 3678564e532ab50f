"""Patterns that match event names: exact, `*` anywhere, alternatives with `|`. Pure.

Matching is linear in the length of the name for each alternative, whatever the
pattern: pieces between wildcards are searched one after another without
backtracking, so `*a*a*a*b` costs no more than four searches.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

MAX_NAME = 128
MAX_PATTERN = 1024
MAX_ALTERNATIVES = 64


WildPattern = tuple[str, ...]
"""The pieces between wildcards: at least two, of which the first and the last may be empty."""


@dataclass(frozen=True)
class Pattern:
    """A subscription's name, compiled."""

    exact: frozenset[str]
    """Alternatives without a wildcard."""
    prefixes: tuple[str, ...]
    """Of alternatives whose only wildcard is at their end, what stands before it."""
    wild: tuple[WildPattern, ...]
    """The others, split at their wildcards."""

    def matches(self, name: str) -> bool:
        return (
            name in self.exact
            or name.startswith(self.prefixes)
            or any(matches_wild(pieces, name) for pieces in self.wild)
        )

    @property
    def size(self) -> int:
        """How many different alternatives it has."""
        return len(self.exact) + len(self.prefixes) + len(self.wild)


@functools.lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Compiles a subscription's name."""
    exact: set[str] = set()
    prefixes: dict[str, None] = {}
    wild: dict[WildPattern, None] = {}
    for each in text.split("|"):
        first, *others = each.split("*")
        if not others:
            exact.add(first)
        elif not any(others):
            prefixes[first] = None
        else:
            wild[first, *filter(None, others[:-1]), others[-1]] = None
    return Pattern(frozenset(exact), tuple(prefixes), tuple(wild))


def matches_wild(pieces: WildPattern, name: str) -> bool:
    """Whether a name matches the pieces of a pattern, between which there may be anything."""
    first, last = pieces[0], pieces[-1]
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in pieces[1:-1]:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
