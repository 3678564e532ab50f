"""Workers that outlive their page: service workers, and shared ones for as long as their page likes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from onair_encoder.browser.cdp import CdpClosed, CdpError
from onair_encoder.browser.cdp_messages import Message

SERVICE_WORKER, SHARED_WORKER = "service_worker", "shared_worker"
_PORTS = {"http": ":80", "https": ":443"}
_SITE, _NONCE = "0", "1"
"""Marks of a storage key: the site of the page that a frame is in, and a frame that shares with no other."""


@dataclass
class _Worker:
    kind: str
    storage_key: str | None = None
    """None while it is unknown."""


class LeftWorkers:
    """Knows which workers run, and what service workers are stored under.

    That is a storage key: an origin, and the site of the page where a worker is of a frame of another site.
    `event` is to be called with the browser's events.
    """

    def __init__(
        self,
        browser: Callable[[str, Message, str | None], Awaitable[Message]],
        page: Callable[[str, Message], Awaitable[Message]],
        shown: Callable[[], Iterable[str]],
    ) -> None:
        """
        Args:
            browser: calls the browser, in one of its sessions where it is given.
            page: calls it in the page's session.
            shown: addresses of the pages that are shown or being loaded at the moment.
        """
        self._browser, self._page, self._shown = browser, page, shown
        self._running: dict[str, _Worker] = {}
        """By their targets."""
        self._storage_keys: set[str] = set()
        self._learning: set[asyncio.Task[None]] = set()

    def event(self, method: str, params: Message) -> None:
        if method == "Target.targetDestroyed":
            self._running.pop(params.get("targetId", ""), None)
        elif method == "Target.targetCreated":
            info = params.get("targetInfo") or {}
            if info.get("type") in (SERVICE_WORKER, SHARED_WORKER):
                self._running[info["targetId"]] = worker = _Worker(info["type"])
                # At once: a service worker that has nothing to do ends, and starts again some day
                task = asyncio.create_task(self._learn(info["targetId"], worker))
                self._learning.add(task)
                task.add_done_callback(self._learning.discard)

    async def _learn(self, target: str, worker: _Worker) -> None:
        with contextlib.suppress(CdpError, CdpClosed):
            attached = await self._browser(
                "Target.attachToTarget", {"targetId": target, "flatten": True}, None
            )
            session = attached["sessionId"]
            try:
                found = await self._browser("Storage.getStorageKey", {}, session)
                worker.storage_key = str(found["storageKey"])
                if worker.kind == SERVICE_WORKER:
                    self._storage_keys.add(worker.storage_key)
            finally:
                # It would not end for want of work while somebody is attached
                await self._browser("Target.detachFromTarget", {"sessionId": session}, None)
        # A page may ask for one whose script comes when the page is long gone
        if worker.storage_key and self._is_left(worker.storage_key):
            with contextlib.suppress(CdpClosed):
                await self._end({worker.storage_key}, [target])

    async def end(self) -> None:
        """Ends and forgets all but those of the page that is shown now, and of frames in it.

        Raises:
            CdpClosed: the browser has ended.
        """
        if self._learning:
            await asyncio.wait({*self._learning})
        running = [
            target
            for target, worker in self._running.items()
            if worker.storage_key is None or self._is_left(worker.storage_key)
        ]
        await self._end({key for key in self._storage_keys if self._is_left(key)}, running)

    async def _end(self, storage_keys: set[str], targets: list[str]) -> None:
        registered = storage_keys & self._storage_keys
        await asyncio.gather(*map(self._clear, registered))
        self._storage_keys -= registered
        for target in targets:
            with contextlib.suppress(CdpError):
                await self._browser("Target.closeTarget", {"targetId": target}, None)

    def _is_left(self, storage_key: str) -> bool:
        return not any(_may_be_of(storage_key, url) for url in self._shown())

    async def _clear(self, storage_key: str) -> None:
        with contextlib.suppress(CdpError):
            what = {"storageKey": storage_key, "storageTypes": "service_workers,cache_storage"}
            await self._page("Storage.clearDataForStorageKey", what)

    def close(self) -> None:
        for task in self._learning:
            task.cancel()


def _may_be_of(storage_key: str, url: str) -> bool:
    """Whether it is one of the page at this address, or of a frame in it."""
    origin, *marks = storage_key.split("^")
    values = {mark[:1]: mark[1:] for mark in marks}
    if _NONCE in values:
        return False
    try:
        page = urlsplit(url)
        site = urlsplit(values.get(_SITE, ""))
    except ValueError:
        return False
    if site.hostname:
        hosts = f".{page.hostname or ''}", f".{site.hostname}"
        return page.scheme == site.scheme and hosts[0].endswith(hosts[1])
    return origin.removesuffix("/") == _origin(url)


def _origin(url: str) -> str:
    """As browsers write it, without a user or the port that its scheme has anyway; empty for none.

    Raises:
        ValueError: it is no address.
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host.removesuffix(_PORTS.get(parts.scheme, ' '))}" if host else ""
