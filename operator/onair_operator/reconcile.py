"""The loop: observed = observe(project); plan = make_plan(observed, now, settings); await apply(plan)."""

from __future__ import annotations

import asyncio
import datetime as dt
import time

import structlog
from prometheus_client import Counter, Histogram

from onair_crds.kube.apis import CUSTOM
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import Resource
from onair_crds.resources.collection import CollectionStatus
from onair_operator.actions import Adopt
from onair_operator.apply import Applier
from onair_operator.conditions import Verdict, with_ready
from onair_operator.delivery import unowned_status
from onair_operator.fencing import dead_nodes, node_renewals
from onair_operator.fleet import Fleet
from onair_operator.observe import follow_encoders, observe
from onair_operator.plan import make_plan
from onair_operator.rtc_providers import RtcProviders
from onair_operator.settings import OperatorSettings
from onair_operator.store import Store
from onair_operator.sweep import orphaned_secrets
from onair_operator.work_queue import WorkQueue

log = structlog.get_logger()

WORKERS = 8
BROKEN_RETRY_S = 30.0
SILENCE_S = 5.0
"""An encoder that has not been heard for so long makes us look at its node's Lease."""
RECONCILES = Counter("onair_operator_reconciles_total", "Looks at a key, by outcome.", ["outcome"])
DURATION = Histogram("onair_operator_reconcile_seconds", "Time of one look at a key.")


class Reconciler:
    """Works the queue off while this process leads."""

    def __init__(
        self,
        client: KubeClient,
        store: Store,
        queue: WorkQueue,
        fleet: Fleet,
        applier: Applier,
        settings: OperatorSettings,
    ) -> None:
        self._client = client
        self._store = store
        self._queue = queue
        self._fleet = fleet
        self._applier = applier
        self._settings = settings
        self._rtc_providers = RtcProviders(settings.rtc)
        self._dead_nodes: frozenset[str] = frozenset()
        self._failures: dict[str, int] = {}

    async def run(self) -> None:
        """Looks at every key once and from then on at those that change; ends only when cancelled."""
        self.enqueue_all()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_nodes())
            tasks.create_task(self._sweep())
            for _ in range(WORKERS):
                tasks.create_task(self._work())

    def enqueue_all(self) -> None:
        for kind in (*CUSTOM, "Pod"):
            for entry in self._store.all(kind):
                for key in self._store.keys_of(kind, entry.document):
                    self._queue.add(key)

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            started = time.perf_counter()
            outcome = "done"
            try:
                await self._reconcile(key)
                self._failures.pop(key, None)
            except ApiError as error:
                outcome = "conflict" if error.conflict else "failed"
                await self._again(key, error)
            except Exception:  # one project that cannot be read must not stop the others
                outcome = "broken"
                log.exception("reconcile.broken", key=key)
                self._queue.add_after(key, BROKEN_RETRY_S)
            finally:
                self._queue.done(key)
                RECONCILES.labels(outcome).inc()
                DURATION.observe(time.perf_counter() - started)

    async def _again(self, key: str, error: ApiError) -> None:
        kind, _, name = key.partition("/")
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        if error.conflict or error.not_found:
            await self._refresh({"project": "Project", "collection": "Collection"}[kind], name)
            for entry in list(self._store.of_project("Destination", name)):
                await self._refresh("Destination", entry.model.name)
        else:
            log.warning("reconcile.failed", key=key, reason=error.reason, error=error.message)
        self._queue.add_after(key, min(0.05 * 2 ** min(failures - 1, 8), 10.0))

    async def _refresh(self, kind: str, name: str) -> None:
        known = self._store.get(kind, name)
        try:
            self._store.put(kind, await self._client.get(CUSTOM[kind], self._settings.show_namespace, name))
        except ApiError as error:
            if error.not_found and known:
                self._store.remove(kind, name, known.uid)

    async def _reconcile(self, key: str) -> None:
        kind, _, name = key.partition("/")
        if kind == "project":
            await self._reconcile_project(name)
        else:
            await self._reconcile_collection(name)

    async def _reconcile_project(self, name: str) -> None:
        observed = observe(self._store, self._fleet, name, self._dead_nodes, self._rtc_providers.known())
        if observed is None:
            await self._tell_unowned(name)
            return
        follow_encoders(self._store, self._fleet, observed)
        plan = make_plan(observed, dt.datetime.now(dt.UTC), self._settings)
        await self._applier.apply(observed.project, plan)

    async def _tell_unowned(self, project: str) -> None:
        for entry in list(self._store.of_project("Destination", project)):
            destination = entry.model
            status = unowned_status(destination, dt.datetime.now(dt.UTC))
            if status != destination.status and not destination.deleting:
                await self._applier.write_status(
                    "Destination", destination.name, destination.resource_version, status.manifest()
                )

    async def _reconcile_collection(self, name: str) -> None:
        entry = self._store.get("Collection", name)
        if entry is None or entry.model.deleting:
            return
        collection = entry.model
        verdict = Verdict(True, "Accepted", "projects and sources may refer to it")
        status = CollectionStatus(
            observed_generation=collection.generation,
            conditions=with_ready(
                collection.status.conditions, verdict, collection.generation, dt.datetime.now(dt.UTC)
            ),
        )
        if status != collection.status:
            await self._applier.write_status(
                "Collection", name, collection.resource_version, status.manifest()
            )
        for source in list(self._store.of_collection("Source", name)):
            if not source.model.deleting and not _owned_by(source.model, collection.uid):
                await self._applier.adopt(Adopt(source.model, collection))

    async def _sweep(self) -> None:
        """Deletes, now and then, what no destination or source will ever name."""
        while True:
            await asyncio.sleep(self._settings.resync_interval_s)
            for secret in orphaned_secrets(self._store, dt.datetime.now(dt.UTC)):
                try:
                    await self._applier.delete_secret(secret.name, secret.uid)
                except ApiError as error:
                    log.warning("sweep.failed", secret=secret.name, error=error.message)

    async def _watch_nodes(self) -> None:
        """Judges nodes, only while an encoder is silent, and those found dead until they are back."""
        while True:
            await asyncio.sleep(1.0)
            suspects = self._fleet.silent_nodes(SILENCE_S) | self._dead_nodes
            judged: frozenset[str] = frozenset()
            if suspects:
                judged = dead_nodes(await node_renewals(self._client), dt.datetime.now(dt.UTC)) & suspects
            if judged != self._dead_nodes:
                log.warning("nodes.dead", nodes=sorted(judged))
                self._dead_nodes = judged
                self.enqueue_all()


def _owned_by(resource: Resource, uid: str) -> bool:
    return any(owner["uid"] == uid for owner in resource.metadata.get("ownerReferences", []))
