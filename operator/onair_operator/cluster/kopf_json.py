"""Has kopf decode what is nested more deeply than Python's decoder goes, as anybody's object may be.

kopf's watch of a kind would end at the first such object, and its list never succeed. It has no setting for
how it decodes.
"""

from __future__ import annotations

from typing import Any

from kopf._cogs.clients import api

from onair_crds.kube.deep_json import loads


class _Json:
    """What kopf's client calls of `json`, for the lines of its watches."""

    @staticmethod
    def loads(line: str) -> Any:
        return loads(line.encode())


async def _get(url: str, **options: Any) -> Any:
    """A GET as kopf's own, for its lists."""
    response = await api.request("get", url, **options)
    async with response:
        return loads(await response.read())


def install() -> None:
    """Replaces kopf's parser from now on, in this process."""
    api.json = _Json  # type: ignore[attr-defined, assignment]
    api.get = _get
