"""Service workers of pages that are gone: they would go on for as long as the browser does."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from onair_encoder.browser.cdp import CdpError
from onair_encoder.browser.cdp_messages import Message

_PORTS = {"http": ":80", "https": ":443"}


class LeftWorkers:
    """Knows which origins have had service workers. `event` is to be called with the browser's events."""

    def __init__(self, call: Callable[[str, Message], Awaitable[Message]]) -> None:
        """
        Args:
            call: of a page's session.
        """
        self._call = call
        self._origins: set[str] = set()

    def event(self, method: str, params: Message) -> None:
        if method in ("Target.targetCreated", "Target.targetInfoChanged"):
            info = params.get("targetInfo") or {}
            if info.get("type") == "service_worker" and (origin := _origin(info["url"])):
                self._origins.add(origin)

    async def end(self, url: str) -> None:
        """Ends and forgets those of all origins but that of the page that is shown now.

        Raises:
            CdpClosed: the browser has ended.
        """
        for origin in self._origins - {_origin(url)}:
            with contextlib.suppress(CdpError):
                what = {"origin": origin, "storageTypes": "service_workers,cache_storage"}
                await self._call("Storage.clearDataForOrigin", what)
            self._origins.discard(origin)


def _origin(url: str) -> str:
    """As browsers write it, without a user or the port that its scheme has anyway; empty for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host.removesuffix(_PORTS.get(parts.scheme, ' '))}" if host else ""
