"""How often a reflector lists where its watches fail, or say nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from onair_crds.kube.apis import SECRETS
from onair_crds.kube.reflector import Reflector, WatchTarget
from onair_crds.kube.store import Store
from onair_crds.shapes import Document


class Timeouts:
    watch_timeout_s = 60
    inactivity_s = 60.0
    backoff_initial_s = 0.2
    backoff_max_s = 5.0


class NoMetrics:
    def watch_event(self, kind: str, type_: str) -> None: ...

    def watch_restarted(self, kind: str, reason: str) -> None: ...


class WatchesThatFail:
    """Lists nothing, and reports an error as the first event of each watch."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.lists = self.watches = 0

    async def pages(self, *_: object, **__: object) -> AsyncIterator[Document]:
        self.lists += 1
        yield {"metadata": {"resourceVersion": "5"}, "items": []}

    async def version(self, *_: object, **__: object) -> int:
        return 5

    @asynccontextmanager
    async def stream(self, *_: object, **__: object) -> AsyncIterator[AsyncIterator[Document]]:
        self.watches += 1

        async def events() -> AsyncIterator[Document]:
            yield {"type": "ERROR", "object": {"code": self.code, "reason": "", "message": "no"}}

        yield events()


@pytest.mark.parametrize("code", [410, 500])
async def test_it_waits_longer_each_time_a_watch_fails_at_once(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            raise asyncio.CancelledError

    monkeypatch.setattr("onair_crds.kube.reflector.asyncio.sleep", pause)
    client = WatchesThatFail(code)
    target = WatchTarget("Secret", SECRETS, "shows")
    reflector = Reflector(cast(Any, client), Store({"Secret": {}}), target, Timeouts(), NoMetrics())
    with pytest.raises(asyncio.CancelledError):
        await reflector.run()
    assert client.watches <= len(pauses) + 1, "only the first expiry is met by a list at once"
    assert pauses[-1] > 2.0
    assert client.lists == (client.watches if code == 410 else 1)


class RestoredApiServer:
    """Its data may be put back to an earlier state. Its watches say nothing but bookmarks, if that."""

    def __init__(self, *, bookmarks: bool) -> None:
        self.bookmarks = bookmarks
        self.versions = [900]
        self.lists = self.checks = 0
        self.watched: list[str] = []

    async def pages(self, *_: object, **__: object) -> AsyncIterator[Document]:
        self.lists += 1
        yield {"metadata": {"resourceVersion": str(self.versions[-1])}, "items": []}

    async def version(self, *_: object, **__: object) -> int:
        self.checks += 1
        return self.versions[-1]

    @asynccontextmanager
    async def stream(self, *_: object, **query: Any) -> AsyncIterator[AsyncIterator[Document]]:
        self.watched.append(query["resourceVersion"])
        if len(self.watched) == 4:
            raise asyncio.CancelledError

        async def events() -> AsyncIterator[Document]:
            if self.bookmarks:
                yield {
                    "type": "BOOKMARK",
                    "object": {"metadata": {"resourceVersion": query["resourceVersion"]}},
                }

        yield events()


def restored_reflector(server: RestoredApiServer, monkeypatch: pytest.MonkeyPatch) -> Reflector:
    monkeypatch.setattr("onair_crds.kube.reflector.SHORTEST_WATCH_S", 0.0)
    target = WatchTarget("Secret", SECRETS, "shows")
    return Reflector(cast(Any, server), Store({"Secret": {}}), target, Timeouts(), NoMetrics())


@pytest.mark.parametrize("bookmarks", [False, True])
async def test_only_a_watch_that_says_nothing_has_the_version_checked(
    monkeypatch: pytest.MonkeyPatch, *, bookmarks: bool
) -> None:
    server = RestoredApiServer(bookmarks=bookmarks)
    with pytest.raises(asyncio.CancelledError):
        await restored_reflector(server, monkeypatch).run()
    assert (server.lists, server.watched) == (1, ["900"] * 4)
    assert server.checks == (0 if bookmarks else 3)


async def test_a_watch_of_a_version_that_is_yet_to_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    server = RestoredApiServer(bookmarks=False)
    reflector = restored_reflector(server, monkeypatch)
    listed: list[int] = []

    class RestoringListener:
        def listed(self, kind: str, documents: list[Document], version: int) -> None:
            listed.append(version)
            server.versions.append(500)

        def changed(self, kind: str, document: Document, *, deleted: bool) -> None: ...

    reflector.listener = RestoringListener()
    with pytest.raises(asyncio.CancelledError):
        await reflector.run()
    assert listed == [900, 500]
    assert server.watched == ["900", "500", "500", "500"]
