"""Feeds the store by kopf's watches, which are started again where they end or fall silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import kopf
import structlog
from prometheus_client import Counter

from onair_crds.kube.apis import CUSTOM, Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.store import Change, Store
from onair_crds.resources.base import GROUP, VERSION
from onair_crds.shapes import Document
from onair_operator.cluster import kopf_json
from onair_operator.cluster.resync import Resync
from onair_operator.cluster.watched_kinds import FIELD_SELECTORS, WATCHED

log = structlog.get_logger()

WATCH_RESTARTS = Counter("onair_operator_watch_restarts_total", "How often kopf's watches were restarted.")
LIST_CHUNK = 100
"""Objects that kopf takes at a time at most when it lists: the tasks of all of them run before any other."""


class _EveryTask(frozenset[asyncio.Task[Any]]):
    """Counts every task as somebody else's.

    As it ends, kopf waits for each task that began after it and cancels it 5 s
    later, taking it for its own: our workers, and whatever else runs in the loop.
    Its own end with the root tasks anyway.
    """

    def __contains__(self, task: object) -> bool:
        return True


class Watch:
    def __init__(
        self,
        client: KubeClient,
        store: Store,
        namespace: str,
        changed: Callable[[Change], None],
        started: Callable[[], None],
        resync: Resync,
    ) -> None:
        """
        Args:
            changed: called with every change of the store that a watch brings.
            started: called whenever kopf is up: it has then put its signal handlers over ours.
        """
        self._client = client
        self._store = store
        self._namespace = namespace
        self._changed = changed
        self._started = started
        self._resync = resync

    def event(self, kind: str, type_: str | None, document: Document) -> None:
        """Takes one event of a watch."""
        self._resync.heard(kind)
        self._store.heard(kind, int(document["metadata"]["resourceVersion"]))
        if type_ == "DELETED":
            change = self._store.remove(kind, document["metadata"]["name"], document["metadata"]["uid"])
        else:
            change = self._store.update(kind, document)
        if change:
            self._changed(change)

    async def run(self, interval_s: float, stop: asyncio.Event) -> None:
        """Keeps kopf's watches running until `stop` is set; a dead watch or operator is restarted."""
        while not stop.is_set():
            kopf_stop = asyncio.Event()
            watches = asyncio.create_task(self._watch(kopf_stop))
            audit = asyncio.create_task(self._resync.audit(interval_s))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({watches, audit, stopping}, return_when=asyncio.FIRST_COMPLETED)
            kopf_stop.set()
            for task in (audit, stopping):
                task.cancel()
            outcome = await asyncio.gather(watches, audit, stopping, return_exceptions=True)
            if not stop.is_set():
                WATCH_RESTARTS.inc()
                log.warning("watches.restarted", error=str(outcome[0] or outcome[1]))
                await asyncio.sleep(1.0)

    async def _watch(self, stop: asyncio.Event) -> None:
        kopf_json.install()
        ready = asyncio.Event()
        tasks = await kopf.spawn_tasks(
            registry=self._registry(),
            settings=kopf_settings(),
            namespaces=[self._namespace],
            standalone=True,
            # kopf would look the user up by name, which a container's user does not have
            identity=cast(Any, "onair-operator"),
            stop_flag=stop,
            ready_flag=ready,
        )
        operator = asyncio.create_task(kopf.run_tasks(tasks, ignored=_EveryTask()))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({operator, waiting}, return_when=asyncio.FIRST_COMPLETED)
            self._started()
            await operator
        finally:
            waiting.cancel()
            operator.cancel()

    def _registry(self) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()
        for kind, api in WATCHED.items():
            self._register(registry, kind, api)
        kopf.on.login(registry=registry)(self._login)
        return registry

    def _login(self, **kwargs: Any) -> kopf.ConnectionInfo | None:
        """The pod's service account, else the client's credentials; never what happens to be installed."""
        if account := kopf.login_with_service_account(**kwargs):
            return account
        loaded = self._client.configuration
        return kopf.ConnectionInfo(
            server=loaded.host,
            ca_path=loaded.ssl_ca_cert,
            insecure=not loaded.verify_ssl,
            certificate_path=loaded.cert_file,
            private_key_path=loaded.key_file,
            token=loaded.api_key.get("BearerToken", "").removeprefix("Bearer ") or None,
        )

    def _register(self, registry: kopf.OperatorRegistry, kind: str, api: Api) -> None:
        group, version = (GROUP, VERSION) if kind in CUSTOM else ("", "v1")

        @kopf.on.event(group, version, api.plural, registry=registry, id=f"watch-{api.plural}")
        async def _(event: Any, **_: Any) -> None:
            self.event(kind, event["type"], dict(event["object"]))


def kopf_settings() -> kopf.OperatorSettings:
    """How kopf is to watch: no Events and no posting of its own, timeouts and pages of ours."""
    settings = kopf.OperatorSettings()
    # kopf's end is not ours: it would kill this process, ten minutes after it was started again
    settings.process.ultimate_exiting_timeout = None
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.server_timeout = 240
    settings.watching.client_timeout = 300
    settings.watching.connect_timeout = 5
    settings.watching.reconnect_backoff = 0.2
    settings.watching.chunk_size = LIST_CHUNK
    for kind, selector in FIELD_SELECTORS.items():
        settings.watching.field_selectors[WATCHED[kind].plural] = selector
    return settings
