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


@dataclass(frozen=True)
class Pattern:
    """A subscription's name, compiled."""

    exact: frozenset[str]
    """Alternatives without a wildcard."""
    wild: tuple[tuple[str, ...], ...]
    """The others, split at their wildcards: at least two pieces each, some of them empty."""

    def matches(self, name: str) -> bool:
        return name in self.exact or any(_matches(pieces, name) for pieces in self.wild)


@functools.lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Compiles a subscription's name."""
    alternatives = text.split("|")
    return Pattern(
        frozenset(each for each in alternatives if "*" not in each),
        tuple(tuple(each.split("*")) for each in alternatives if "*" in each),
    )


def _matches(pieces: tuple[str, ...], name: str) -> bool:
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
