"""Takes a large list apart while it arrives, so that neither its length nor one item in it costs memory.

Whoever is in a room decides how much there is to say of them: metadata, attributes, names of tracks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from onair_crds.shapes import JsonObject

MAX_ITEM_BYTES = 1024 * 1024
HEAD_BYTES = 4096
"""What is kept of a larger item: it begins with who it is about."""
_ITEM_DEPTH = 3
"""Of an object in a list in an object."""
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_FLAT = re.compile(rb'(?:[^"{}\[\]]++|"' + _IN_STRING.pattern + rb'")*+', re.DOTALL)
"""All up to a bracket, or up to a string that does not end in this part."""
_IDENTITY = re.compile(rb'"identity"\s*:\s*("(?:[^"\\]|\\.)*+")', re.DOTALL)


@dataclass(frozen=True)
class OversizedItem:
    """An item that is too large to be decoded."""

    identity: str
    """Of the participant that it is about; empty if it does not begin with that."""


class LargeList:
    """Splits `{"<name>": [{…}, …]}` into its items; given the parts of the text, one after another."""

    def __init__(self) -> None:
        self.taken_bytes = 0
        """Of the items that were decoded."""
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._item = bytearray()
        self._is_oversized = False

    @property
    def is_whole(self) -> bool:
        """Whether what came so far is not cut off."""
        return self._depth == 0

    def items(self, part: bytes) -> Iterator[JsonObject | OversizedItem]:
        """The items that end in this part.

        Raises:
            ValueError, RecursionError: it is no such list.
        """
        begin = at = 0
        while at < len(part):
            if self._in_string:
                at = self._end_of_string(part, at)
                continue
            flat = _FLAT.match(part, at)
            at = flat.end() + 1 if flat else at + 1
            match part[at - 1 : at]:
                case b"":
                    break
                case b'"':
                    self._in_string = True
                case b"{" | b"[":
                    self._depth += 1
                    if self._depth == _ITEM_DEPTH:
                        begin = at - 1
                case _:
                    self._depth -= 1
                    if self._depth == _ITEM_DEPTH - 1:
                        self._keep(part[begin:at])
                        yield self._taken()
        if self._depth >= _ITEM_DEPTH:
            self._keep(part[begin:])

    def _end_of_string(self, part: bytes, at: int) -> int:
        """Where the string ends, or the part does."""
        if self._escaped:
            self._escaped, at = False, at + 1
        found = _IN_STRING.match(part, at)
        end = found.end() if found else at
        if end < len(part):
            # A quote; or the backslash that ends this part
            self._in_string = self._escaped = part[end : end + 1] == b"\\"
            end += 1
        return end

    def _keep(self, more: bytes) -> None:
        if not self._is_oversized:
            self._item += more
            if len(self._item) > MAX_ITEM_BYTES:
                self._is_oversized = True
                del self._item[HEAD_BYTES:]

    def _taken(self) -> JsonObject | OversizedItem:
        item, is_oversized = bytes(self._item), self._is_oversized
        self._item.clear()
        self._is_oversized = False
        if is_oversized:
            found = _IDENTITY.search(item)
            return OversizedItem(str(json.loads(found.group(1))) if found else "")
        self.taken_bytes += len(item)
        value = json.loads(item)
        if not isinstance(value, dict):
            raise ValueError("an item is no object")
        return value
