"""kopf is started again within the process, without a trace of the one before."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import Any, cast

import pytest
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.kube.store import Change, Store
from onair_operator.cluster.watch import Watch
from onair_operator.cluster.watched_kinds import KINDS


class IdleResync:
    """Never finds that a watch is dead."""

    def heard(self, kind: str) -> None:
        """Whatever is heard, kopf decides."""

    async def audit(self, _: float) -> None:
        await asyncio.Event().wait()


def fail_kopf() -> None:
    """As a watch that meets an error which kopf does not know: all of kopf ends."""
    (poster,) = [task for task in asyncio.all_tasks() if task.get_name() == "poster of events"]
    poster.cancel()


async def test_kopf_that_fails_is_started_again_and_leaves_no_timer_that_kills(
    operated_namespace: OperatedNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    timers: list[Any] = []
    call_later = loop.call_later

    def noted(delay: float, callback: Any, *args: Any, **options: Any) -> asyncio.TimerHandle:
        timers.append(callback)
        return call_later(delay, callback, *args, **options)

    monkeypatch.setattr(loop, "call_later", noted)
    changes: list[Change] = []
    starts = 0

    def started() -> None:
        nonlocal starts
        starts += 1

    def has_started(times: int) -> bool:
        return starts == times

    store, resync, stop = Store(KINDS), IdleResync(), asyncio.Event()
    namespace = operated_namespace.namespace
    watch = Watch(operated_namespace.client, store, namespace, changes.append, started, cast(Any, resync))
    watching = asyncio.create_task(watch.run(60.0, stop))
    for number in range(1, 4):
        await until(partial(has_started, number), "kopf is up")
        await operated_namespace.create(
            "Collection", f"c-{number}", {"owner": {"serviceId": "a", "serviceUserId": "b"}}
        )
        await until(partial(store.entry, "Collection", f"c-{number}"), "the collection is known")
        if number < 3:
            fail_kopf()
    stop.set()
    async with asyncio.timeout(20):
        await watching
    assert signal.pthread_kill not in timers
    assert [change.entry.name for change in changes if change.entry.kind == "Collection"] == [
        "c-1",
        "c-2",
        "c-3",
    ]
