"""Pages of lists: `pageSize` and `pageToken` of a request, `nextPageToken` of the response. Pure.

A token holds the sort key of its page's last item, so items that come and go meanwhile shift nothing.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

import orjson

from onair_api.errors import InvalidArgument, Violation
from onair_crds.shapes import JsonObject

T = TypeVar("T")
Key = tuple[str, ...]

MAX_PAGE_SIZE = 1000
MAX_LIST = 10_000
"""Items of a response where no page is asked for: all of them, up to this many."""
MAX_PAGE_BYTES = 16_777_216
"""Of a page's items, beyond which none follows: so it has more only where its first one has."""


@dataclass(frozen=True)
class ListPage(Generic[T]):
    items: Sequence[T]
    next_token: str | None

    @property
    def field(self) -> JsonObject:
        """`{nextPageToken}` where there is another page."""
        return {"nextPageToken": self.next_token} if self.next_token else {}


def page_of(
    items: Sequence[T],
    message: JsonObject,
    key: Callable[[T], Key],
    *,
    by_key: bool = True,
    size: Callable[[T], int] | None = None,
) -> ListPage[T]:
    """The page of a list that a request asks for.

    Args:
        key: distinguishes items.
        by_key: whether the list is sorted by it. If it is not, the next page needs the last item to be there.
        size: bytes of an item in the response. Absent: the whole list is small.

    Raises:
        InvalidArgument: the size is out of bounds, or the token is none of this interface, or too old.
    """
    number, after = _size(message), _decoded(message.get("pageToken"))
    start = 0
    if after is not None:
        start = bisect_right(items, after, key=key) if by_key else _place_after(items, after, key)
    chosen = items[start : start + number]
    if size:
        ends = accumulate(map(size, chosen))
        chosen = chosen[: max(1, sum(end <= MAX_PAGE_BYTES for end in ends))]
    more = start + len(chosen) < len(items)
    return ListPage(chosen, _encoded(key(chosen[-1])) if more else None)


def _place_after(items: Sequence[T], after: Key, key: Callable[[T], Key]) -> int:
    for place, item in enumerate(items):
        if key(item) == after:
            return place + 1
    raise InvalidArgument(
        Violation("pageToken", "is of an item that no longer exists: list from the beginning")
    )


def _size(message: JsonObject) -> int:
    given = message.get("pageSize")
    if given in (None, "", "0", 0):
        return MAX_PAGE_SIZE if message.get("pageToken") else MAX_LIST
    text = str(given)
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and int(text) <= MAX_PAGE_SIZE):
        raise InvalidArgument(Violation("pageSize", f"must be an integer from 1 to {MAX_PAGE_SIZE}"))
    return int(text) or MAX_PAGE_SIZE


def _encoded(key: Key) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def _decoded(token: object) -> Key | None:
    if token in (None, ""):
        return None
    try:
        text = str(token)
        key = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):
        key = None
    if not isinstance(key, list) or not key or not all(isinstance(part, str) for part in key):
        raise InvalidArgument(Violation("pageToken", "must be the nextPageToken of a page before"))
    return tuple(key)
