"""Reflectors on a real API server: lists in pages, watches that are too old or fall silent, restored data."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.control_plane import ControlPlane
from tests.support.waiting import until

from onair_crds.kube import client as kube_client
from onair_crds.kube.apis import CONFIG_MAPS, CUSTOM
from onair_crds.kube.client import KubeClient
from onair_crds.kube.reflector import Reflector, WatchTarget, relist
from onair_crds.kube.store import Store
from onair_crds.resources.collection import Collection

COLLECTION = "Collection"
CONFIG_MAP = "ConfigMap"
MORE_THAN_A_START_WRITES = 500
"""Versions that the API server's own writes as it starts do not make up for."""
SPEC = {"owner": {"serviceId": "s", "serviceUserId": "u"}}


@dataclass(frozen=True)
class ShortReflectorTiming:
    watch_timeout_s: int = 290
    inactivity_s: float = 150.0
    backoff_initial_s: float = 0.01
    backoff_max_s: float = 1.0


class CountingReflectorMetrics:
    def __init__(self) -> None:
        self.restarts: Counter[str] = Counter()
        self.events: Counter[str] = Counter()

    def watch_event(self, kind: str, type_: str) -> None:
        self.events[type_] += 1

    def watch_restarted(self, kind: str, reason: str) -> None:
        self.restarts[reason] += 1


@pytest.fixture
async def client(crds: None, kubeconfig: Path) -> AsyncIterator[KubeClient]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield client


@pytest.fixture
def target(namespace: str) -> WatchTarget:
    return WatchTarget(COLLECTION, CUSTOM[COLLECTION], namespace)


@pytest.fixture
def store() -> Store:
    return Store({COLLECTION: {}})


async def create(client: KubeClient, target: WatchTarget, name: str) -> None:
    await client.create(target.api, target.namespace, Collection.document(name, SPEC))


@asynccontextmanager
async def running(reflector: Reflector) -> AsyncIterator[None]:
    task = asyncio.create_task(reflector.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()


async def test_a_list_of_several_pages_is_taken_whole(
    client: KubeClient, target: WatchTarget, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube_client, "FIRST_PAGE", 2)
    monkeypatch.setattr(kube_client, "next_page", lambda limit, _: limit)
    for number in range(5):
        await create(client, target, f"c-{number}")
    pages: list[tuple[int, int]] = []
    for _ in range(2):
        version = await relist(
            client, store, target, lambda page, changes: pages.append((len(page), len(changes)))
        )
        assert version >= max(entry.version for entry in store.entries(COLLECTION))
    assert [entry.name for entry in store.entries(COLLECTION)] == [f"c-{number}" for number in range(5)]
    assert pages == [(2, 2), (2, 2), (1, 1), (0, 0), (2, 0), (2, 0), (1, 0), (0, 0)]


async def test_a_reflector_follows_what_changes(
    client: KubeClient, target: WatchTarget, store: Store
) -> None:
    reflector = Reflector(client, store, target, ShortReflectorTiming(), CountingReflectorMetrics())
    async with running(reflector):
        async with asyncio.timeout(10):
            await reflector.synced.wait()
        await create(client, target, "new")
        await until(lambda: store.entry(COLLECTION, "new") is not None)
        assert reflector.age_s < 5
        await client.delete(target.api, target.namespace, "new")
        await until(lambda: store.entry(COLLECTION, "new") is None)


async def test_a_watch_that_is_too_old_lists_again_and_drops_what_is_gone(
    client: KubeClient, target: WatchTarget, store: Store
) -> None:
    await create(client, target, "there")
    store.update(COLLECTION, {"metadata": {"name": "ghost", "uid": "ghost", "resourceVersion": "1"}})
    metrics = CountingReflectorMetrics()
    reflector = Reflector(client, store, target, ShortReflectorTiming(), metrics)
    reflector._version = "1"
    async with running(reflector):
        async with asyncio.timeout(10):
            await reflector.synced.wait()
    assert store.entry(COLLECTION, "there")
    assert store.entry(COLLECTION, "ghost") is None
    assert metrics.restarts["gone"] == 1


async def test_a_watch_that_falls_silent_is_given_up(
    client: KubeClient, target: WatchTarget, store: Store
) -> None:
    """Nothing is sent on a quiet watch for a minute; a shorter timeout shows what a dead peer causes."""
    metrics = CountingReflectorMetrics()
    reflector = Reflector(client, store, target, ShortReflectorTiming(inactivity_s=1), metrics)
    async with running(reflector):
        await until(lambda: metrics.restarts["broken"] > 0)
        assert reflector.age_s >= 1, "an open connection is no sign of life"


class RestoredShow:
    """ConfigMaps of a control plane of its own, as a client writes them and a reflector has them."""

    def __init__(self, client: KubeClient) -> None:
        self.client = client
        self.store = Store({CONFIG_MAP: {}})
        self.reflector = Reflector(
            client,
            self.store,
            WatchTarget(CONFIG_MAP, CONFIG_MAPS, "default"),
            ShortReflectorTiming(),
            CountingReflectorMetrics(),
        )

    async def make(self, name: str) -> None:
        await self.client.create(
            CONFIG_MAPS, "default", {"metadata": {"name": name}, "data": {"says": "made"}}
        )

    async def edit(self, name: str, says: str) -> None:
        await self.client.merge_patch(CONFIG_MAPS, "default", name, {"data": {"says": says}})

    def known(self) -> dict[str, str]:
        return {entry.name: entry.document["data"]["says"] for entry in self.store.entries(CONFIG_MAP)}


async def test_data_that_was_restored_replaces_what_was_known_after_its_backup() -> None:
    with ControlPlane() as plane:
        async with await KubeClient.connect(str(plane.kubeconfig)) as client:
            show = RestoredShow(client)
            for name in ("same", "edited", "undone", "deleted"):
                await show.make(name)
            await asyncio.to_thread(plane.back_up)
            async with running(show.reflector):
                await show.make("new")
                for number in range(MORE_THAN_A_START_WRITES):
                    await show.edit("edited", str(number))
                await show.edit("undone", "after the backup")
                await client.delete(CONFIG_MAPS, "default", "deleted")
                after = {"same": "made", "edited": "499", "undone": "after the backup", "new": "made"}
                await until(lambda: show.known() == after, "all is known", state=show.known)
                await asyncio.to_thread(plane.restore)
                await show.edit("edited", "after the restore")
                restored = {
                    "same": "made",
                    "edited": "after the restore",
                    "undone": "made",
                    "deleted": "made",
                }
                await until(lambda: show.known() == restored, "what was restored is known", state=show.known)
