"""What changes while a process does not lead is remembered by its store alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import credentials_document, document

from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document
from onair_operator.cluster.queue import WorkQueue
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.reconcile import ReconcileLoop
from onair_operator.reconcilers import BY_KIND
from onair_operator.settings import OperatorSettings


def documents(number: int) -> list[tuple[str, Document]]:
    pull = {"rtmpPull": {"url": "rtmp://media.example/live/a"}}
    relay = document(f"relay-{number}", {"collectionId": "sunday", "address": pull})
    return [
        ("Project", {**document(f"show-{number}"), "status": {"broadcast": {"phase": "Running"}}}),
        ("Layout", document(f"stage-{number}", {"projectId": f"show-{number}"})),
        ("Source", {**relay, "status": {"gateway": f"ingest-{number}"}}),
        ("Secret", credentials_document(f"key-{number}", f"destination-{number}")),
    ]


def change_all(store: Store, loop: ReconcileLoop, number: int) -> None:
    """Creates objects and deletes them."""
    created = documents(number)
    names = [(kind, each["metadata"]["name"], each["metadata"]["uid"]) for kind, each in created]
    changes: list[Change | None] = [store.update(kind, each) for kind, each in created]
    for each in (*changes, *(store.remove(*name) for name in names)):
        assert each
        loop.changed(each)


async def test_a_standby_keeps_nothing_of_what_comes_and_goes() -> None:
    store, queue = Store(KINDS), WorkQueue()
    loop = ReconcileLoop(store, queue, OperatorSettings())
    for number in range(10):
        change_all(store, loop, number)
    assert (len(queue), len(queue._later), len(queue._timers)) == (0, 0, 0)


async def test_what_changed_before_a_process_led_is_looked_at_when_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, looked, all_looked = Store(KINDS), set[str](), asyncio.Event()
    loop = ReconcileLoop(store, WorkQueue(), OperatorSettings())
    wanted = {"Project/show-1", "Source/relay-1", "Secret/key-1", "Gateway/ingest-1"}

    def look(kind: str) -> Any:
        def observe(_: World, name: str) -> None:
            looked.add(f"{kind}/{name}")
            if looked >= wanted:
                all_looked.set()

        return observe

    for kind in BY_KIND:
        monkeypatch.setitem(BY_KIND, kind, replace(BY_KIND[kind], observe=look(kind)))
    for kind, each in documents(1):
        if change := store.update(kind, each):
            loop.changed(change)
    nodes = SimpleNamespace(dead=frozenset())
    world = World(store, cast(Any, SimpleNamespace()), cast(Any, nodes), cast(Any, None))
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    async with asyncio.timeout(20):
        await all_looked.wait()
    running.cancel()
