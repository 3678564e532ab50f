"""How often a reflector lists where its watches fail."""

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
