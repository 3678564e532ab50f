"""The loop: observed = observe(world, name); plan = make_plan(observed, now, settings); await apply(plan)."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Iterable, Iterator
from functools import partial

import structlog
from prometheus_client import Counter, Histogram

from onair_crds.contract.rooms import room_name
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.resources.base import Resource
from onair_crds.resources.kinds import KINDS
from onair_operator.cluster.actions import Action, WriteStatus
from onair_operator.cluster.apply import Applier
from onair_operator.cluster.key_failures import KeyFailures, lacking_right
from onair_operator.cluster.lease import LeaseExpired
from onair_operator.cluster.lookups import (
    gateways_of_pull,
    project_that_draws,
    shows_on_air,
)
from onair_operator.cluster.pace import Pace
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.receiver import Receiver
from onair_operator.cluster.resync import Resync
from onair_operator.cluster.service_of_key import service_of
from onair_operator.cluster.source_streams import source_of
from onair_operator.cluster.watched_kinds import (
    BY_GATEWAY,
    BY_WATCH_ALONE,
    GATEWAY,
    NODE,
    PROJECT,
    PULLED,
    SOURCE,
    STREAM,
    WATCHED,
)
from onair_operator.cluster.world import World
from onair_operator.ingest.gateway_streams import News
from onair_operator.node.changing_nodes import changing_nodes
from onair_operator.reconcilers import BY_KIND, keys_of
from onair_operator.settings import OperatorSettings

log = structlog.get_logger()

WORKERS = 8
BROKEN_RETRY_S = 30.0
LEASE_RETRY_S = 0.5
NODE_INTERVAL_S = 1.0
GATEWAY_LOOK_S = 0.05
"""From a change of what is pulled until its gateway is looked at: thousands may change in a row."""
ENTRIES_IN_A_STEP = 100
LAYOUT_INTERVAL_S = 1.0
"""Between two programmes that bring an encoder the layers of layouts, which may move many times a second."""
RECONCILES = Counter("onair_operator_reconciles_total", "Reconciles of an object, by outcome.", ["outcome"])
for _outcome in ("done", "conflict", "failed", "paused", "broken"):
    # From the start, or an alert would miss the first of its kind
    RECONCILES.labels(_outcome)
DURATION = Histogram("onair_operator_reconcile_seconds", "Duration of one reconcile.")


class ReconcileLoop:
    """Works the queue off while this process leads."""

    def __init__(self, store: Store, queue: WorkQueue, settings: OperatorSettings) -> None:
        self._store = store
        self._queue = queue
        queue.service_of = partial(service_of, store)
        self._settings = settings
        self._failures = KeyFailures(queue)
        self._layout_pace = Pace(LAYOUT_INTERVAL_S)
        self._world: World | None = None
        """While this process leads."""

    def changed(self, change: Change, *, later: bool = False) -> None:
        """Asks for a look at all that a change affects, and forgets an object that is gone.

        While this process does not lead nothing is asked for: once it does, it looks at everything.

        Args:
            later: nothing has changed, as far as is known.
        """
        world, gone = self._world, change.gone
        if world is None:
            return
        if gone:
            world.forget(gone)
        for gateway in gateways_of_pull(self._store, change):
            self._queue.add_after(Key(GATEWAY, gateway), GATEWAY_LOOK_S)
        if gone and gone.kind == PROJECT:
            world.rooms.drop(room_name(gone.uid), gone.name)
            world.gateways.forget_room(room_name(gone.uid))
            for project in world.streams.claim(gone.name, {}):
                self._queue.add(Key(PROJECT, project))
        for key in keys_of(self._store, change):
            self._queue.add(key, later=later)
        drawn = project_that_draws(self._store, change)
        if drawn:
            self._queue.add_after(Key(PROJECT, drawn), self._layout_pace.delay_s(drawn))

    def told(self, news: News) -> None:
        """Asks for a look at all that a gateway's report affects."""
        store = self._store
        sources = {source_of(store, stream) for stream in news.streams}
        if news.contact:
            sources |= {each.name for each in store.select(SOURCE, BY_GATEWAY, news.gateway)}
            sources |= {each.name for each in store.select(SOURCE, PULLED)}
            sources |= set(self._sources_of_former_gateways())
            self._queue.add(Key(GATEWAY, news.gateway))
        for stream in news.streams:
            self._queue.add(Key(STREAM, stream))
        for source in sources:
            if source:
                self._queue.add(Key(SOURCE, source))

    def _sources_of_former_gateways(self) -> Iterator[str]:
        """Sources whose gateway the settings do not name any more: any other may have them now."""
        named = {each.name for each in self._settings.ingest.gateways}
        for entry in self._store.entries(SOURCE):
            gateway = entry.status.get("gateway")
            if gateway and gateway not in named:
                yield entry.name

    def ingest_moved(self) -> None:
        """Asks for a look at every source, as other addresses of ingest were found."""
        for entry in self._store.entries(SOURCE):
            self._queue.add(Key(SOURCE, entry.name))

    def ingest_secret_replaced(self, secret: bytes) -> None:
        """Makes tokens with another secret, and hands new ones to every encoder that reads a source."""
        if self._world:
            self._world.gateways.take_secret(secret)
        self._look_at_projects()

    def receiver_replaced(self, receiver: Receiver | None) -> None:
        """Hands another password to every encoder that publishes to the built-in MediaMTX."""
        if self._world:
            self._world.receivers[:] = [receiver] if receiver else []
        self._look_at_projects()

    def page_key_found(self) -> None:
        """Hands their pages' tokens to all shows."""
        self._look_at_projects()

    def _look_at_projects(self) -> None:
        for entry in self._store.entries(PROJECT):
            self._queue.add(Key(PROJECT, entry.name))

    async def run(self, world: World, applier: Applier, resync: Resync) -> None:
        """Looks at every key once and from then on at those that change; ends only when cancelled."""
        self._world = world
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._look_at_all())
                tasks.create_task(self._watch_nodes(world))
                tasks.create_task(world.rooms.run())
                tasks.create_task(world.ingest_addresses.run())
                tasks.create_task(world.ingest_pods.run(world.gateways.streams))
                for _ in range(WORKERS):
                    tasks.create_task(self._work(world, applier, resync))
        finally:
            self._world = None
            await world.creations.close()
            await world.cut_offs.close()

    async def _look_at_all(self) -> None:
        """Asks for a look at every key, in steps: all at once would hold up what renews the Lease.

        News goes first, or a source would be shown as connected for as long as thousands of looks take. So do
        shows on air, whose encoders nobody follows until then.
        """
        for number, show in enumerate(shows_on_air(self._store)):
            self._queue.add(Key(PROJECT, show))
            if number % ENTRIES_IN_A_STEP == ENTRIES_IN_A_STEP - 1:
                await asyncio.sleep(0)
        for kind in WATCHED:
            for number, entry in enumerate(self._store.entries(kind) if kind != NODE else ()):
                self.changed(Change(None, entry), later=True)
                if number % ENTRIES_IN_A_STEP == ENTRIES_IN_A_STEP - 1:
                    await asyncio.sleep(0)

    async def _work(self, world: World, applier: Applier, resync: Resync) -> None:
        while True:
            key = await self._queue.take()
            started = time.perf_counter()
            outcome = "done"
            try:
                reconciler = BY_KIND[key.kind]
                observed = reconciler.observe(world, key.name)
                if observed is not None:
                    plan = reconciler.make_plan(observed, dt.datetime.now(dt.UTC), self._settings)
                    with world.begins(_begun_by(plan)):
                        await applier.apply(plan)
                self._failures.forget(key)
            except ApiError as error:
                outcome = "conflict" if error.conflict else "failed"
                await self._retry(key, error, applier, resync)
            except LeaseExpired:
                outcome = "paused"
                self._queue.add_after(key, LEASE_RETRY_S)
            except Exception:  # one object that cannot be read must not stop the others
                outcome = "broken"
                log.exception("reconcile.broken", key=str(key))
                self._queue.add_after(key, BROKEN_RETRY_S)
            finally:
                self._queue.done(key)
                RECONCILES.labels(outcome).inc()
                DURATION.observe(time.perf_counter() - started)
            # Neither a queue that is never empty nor a plan without a write would let others have a turn.
            await asyncio.sleep(0)

    async def _retry(self, key: Key, error: ApiError, applier: Applier, resync: Resync) -> None:
        if error.conflict or error.not_found:
            # Not all that a project has: it may have a thousand destinations, and the watch brings others
            stale = {(key.kind, key.name), error.written or (key.kind, key.name)}
            for kind, name in sorted(stale):
                if kind in WATCHED and kind not in BY_WATCH_ALONE:
                    await resync.refresh(kind, name)
        if self._failures.add(key, error) and error.lacks_right and (to := self._resource(key)):
            applier.tell(lacking_right(to, error))

    def _resource(self, key: Key) -> Resource | None:
        """The custom resource of a key, as far as an Event needs it."""
        model = next((each for each in KINDS if each.kind == key.kind), None)
        entry = self._store.entry(key.kind, key.name) if model else None
        return entry.head(model) if model and entry else None

    async def _watch_nodes(self, world: World) -> None:
        """Judges nodes while something on them is silent, and those found dead until they are back."""
        while True:
            await asyncio.sleep(NODE_INTERVAL_S)
            try:
                for node in changing_nodes(world):
                    self._queue.add(Key(NODE, node))
            except Exception:  # one object that cannot be read must not end what leads
                log.exception("nodes.not_watched")


def _begun_by(plan: Iterable[Action]) -> str | None:
    """The project of which a plan begins a run."""
    begun = (each for each in plan if isinstance(each, WriteStatus) and each.begins_run)
    return next((each.resource.name for each in begun), None)
