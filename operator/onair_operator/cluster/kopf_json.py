"""Has kopf decode what is nested more deeply than Python's decoder goes, and list large objects by few.

Anybody's object may be so deep, or so large. kopf's watch of a kind would end at the first that is too deep,
and its list never succeed. Its pages have as many objects however large they are. It has no setting
for either.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from kopf._cogs.clients import api

from onair_crds.kube.client import FIRST_PAGE, next_page
from onair_crds.kube.deep_json import loads


class _Json:
    """What kopf's client calls of `json`, for the lines of its watches."""

    @staticmethod
    def loads(line: str) -> Any:
        return loads(line.encode())


class _Lists:
    """A GET as kopf's own, for its lists, of which each page is as long as the one before suggests."""

    def __init__(self) -> None:
        self._limits: dict[str, int] = {}
        """Of the next page, by path."""

    async def get(self, url: str, **options: Any) -> Any:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        paged = "limit" in query
        limit = int(query.get("limit", 0))
        if paged:
            wanted = self._limits.get(parts.path, FIRST_PAGE) if "continue" in query else FIRST_PAGE
            limit = min(limit, wanted)
            url = parts._replace(query=urlencode({**query, "limit": limit})).geturl()
        response = await api.request("get", url, **options)
        async with response:
            payload = await response.read()
        if paged:
            self._limits[parts.path] = next_page(limit, len(payload))
        return loads(payload)


def install() -> None:
    """Replaces kopf's parser from now on, in this process."""
    api.json = _Json  # type: ignore[attr-defined, assignment]
    api.get = _Lists().get
