"""Lists that catch what watches missed, and judge whether a watch is dead."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping

import structlog
from prometheus_client import Counter, Histogram

from onair_crds.kube.client import JSON, METADATA_LIST, KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.kube.reflector import WatchTarget, relist
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import FIELD_SELECTORS, LARGE, METADATA_ONLY, WATCHED

log = structlog.get_logger()

CORRECTIONS = Counter("onair_operator_resync_corrections_total", "Objects that a watch had missed.")
DURATION = Histogram(
    "onair_operator_resync_seconds",
    "Time of listing everything.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
ECHO_S = 15.0
"""How long a watch may take to bring what a list found first."""
LIST_RETRY_S = 2.0


class Resync:
    def __init__(
        self,
        client: KubeClient,
        store: Store,
        namespace: str,
        changed: Callable[[Change], None],
        leading: Callable[[], bool],
        echo_s: float = ECHO_S,
    ) -> None:
        """
        Args:
            changed: called with every change of the store that a list brings.
            leading: whether this process acts on what it knows.
        """
        self._client = client
        self._store = store
        self._namespace = namespace
        self._changed = changed
        self._leading = leading
        self._echo_s = echo_s
        self._heard: dict[str, float] = {}
        """When the watch of each kind last brought something."""
        self._restored = asyncio.Event()
        """Set when a list finds that the API server's data was put back to an earlier state."""
        self.synced = False

    def heard(self, kind: str) -> None:
        """Notes that the watch of a kind has brought an event."""
        self._heard[kind] = time.monotonic()

    async def list_all(self) -> dict[str, float]:
        """Lists everything, takes what is newer and drops what is gone.

        Of large objects only metadata is listed, unless that says that something is newer or gone.

        Gives the kinds that the lists brought newer objects of, and when each list began.

        Raises:
            ApiError: a list failed; where it was only forbidden, all others were made. A namespace that is
                being deleted loses its Roles before its projects, which may be listed without them.
        """
        brought: dict[str, float] = {}
        forbidden: ApiError | None = None
        started, restores = time.monotonic(), self._store.restores
        for kind, api in WATCHED.items():
            began = time.monotonic()
            query = {"fieldSelector": FIELD_SELECTORS[kind]} if kind in FIELD_SELECTORS else {}
            accept = METADATA_LIST if kind in METADATA_ONLY else JSON
            target = WatchTarget(kind, api, self._namespace if api.namespaced else None, query, accept)

            def take(_: list[Document], changes: list[Change], kind: str = kind, at: float = began) -> None:
                CORRECTIONS.inc(len(changes))
                for change in changes:
                    self._changed(change)
                    if change.after:
                        brought[kind] = at

            try:
                if not (self.synced and kind in LARGE and await self._is_as_known(target)):
                    await relist(self._client, self._store, target, take)
            except ApiError as error:
                if not error.forbidden:
                    raise
                forbidden = error
            finally:
                if self._store.restores != restores:
                    self._restored.set()
        if forbidden:
            raise forbidden
        self.synced = True
        DURATION.observe(time.monotonic() - started)
        return brought

    async def _is_as_known(self, target: WatchTarget) -> bool:
        """Whether a list of metadata says of nothing that it is newer or gone."""
        store, kind, alive = self._store, target.kind, set[str]()
        known, version = store.version(kind), 0
        async for page in self._client.pages(
            target.api, target.namespace, accept=METADATA_LIST, **target.query
        ):
            version = int(page["metadata"]["resourceVersion"])
            if version < known:
                return False
            for metadata in (each["metadata"] for each in page["items"]):
                entry = store.entry(kind, metadata["name"])
                if entry is None or entry.void or entry.version < int(metadata["resourceVersion"]):
                    return False
                alive.add(entry.uid)
        return all(each.uid in alive or each.version > version for each in store.entries(kind))

    async def refresh(self, kind: str, name: str) -> None:
        """Fetches one object, as after a conflict. One that cannot be fetched stays as it is known.

        Its change is reported here, as the watch's own event of it will be no news.
        """
        api = WATCHED[kind]
        known = self._store.entry(kind, name)
        try:
            document = await self._client.get(api, self._namespace if api.namespaced else None, name)
        except ApiError as error:
            change = self._store.remove(kind, name, known.uid) if error.not_found and known else None
        else:
            change = self._store.read_again(kind, known, document)
        if change:
            self._changed(change)

    async def audit(self, interval_s: float) -> None:
        """Lists now and then; ends when a watch turns out to be dead.

        So are all where a list finds the API server's data put back to an earlier state: they wait for the
        versions to get to where they were. A process that does not lead lists once: it lists afresh when it
        is elected.
        """
        await self._list_until_done()
        self._restored.clear()
        while not self._restored.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self._restored.wait()
            if self._restored.is_set() or not self._leading():
                continue
            brought = await self._list_until_done()
            if self._restored.is_set():
                return
            if brought:
                await asyncio.sleep(self._echo_s)
            if dead := silent_kinds(brought, self._heard):
                log.error("watches.dead", kinds=sorted(dead))
                return

    async def _list_until_done(self) -> dict[str, float]:
        while True:
            try:
                return await self.list_all()
            except ApiError as error:
                log.warning("resync.failed", error=error.message)
                await asyncio.sleep(LIST_RETRY_S)


def silent_kinds(brought: Mapping[str, float], heard: Mapping[str, float]) -> set[str]:
    """The kinds whose watch has said nothing since a list brought something newer of them.

    A watch that is late, as under load, says something; one that is dead says nothing at all. A deletion that
    a list found proves nothing: a watch that had to start over does not bring it.

    Args:
        brought: when the list of each kind began that brought something newer.
        heard: when the watch of each kind last brought something.
    """
    return {kind for kind, listed in brought.items() if heard.get(kind, float("-inf")) < listed}
