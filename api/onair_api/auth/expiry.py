"""Secrets that expire: the annotation that says when, and the sweep that deletes them.

Every replica sweeps, each at times of its own; a Secret that another has
deleted meanwhile does not matter. What is deleted counts for all replicas, so
it is expired by the API server's clock too: that of one replica may be wrong.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import random

import structlog

from onair_api.cache.cluster import Cluster
from onair_crds.contract.labels import EXPIRES_ANNOTATION
from onair_crds.contract.times import format_time
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.kube.store import Entry
from onair_crds.runtime.steps import in_steps

log = structlog.get_logger()

GRACE = dt.timedelta(minutes=1)
"""Clocks differ: nothing is deleted that another replica may still need."""
BATCH = 500


def expires_annotation(time: dt.datetime) -> dict[str, str]:
    """The annotation by which the sweeper finds what may be deleted."""
    return {EXPIRES_ANNOTATION: format_time(time, "seconds")}


def expiry_of(entry: Entry) -> dt.datetime | None:
    """When a Secret expires; None if its annotation is missing or unreadable."""
    text = (entry.metadata.get("annotations") or {}).get(EXPIRES_ANNOTATION)
    try:
        time = dt.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=dt.UTC)


class Sweeper:
    def __init__(self, cluster: Cluster, kinds: tuple[str, ...], interval_s: float) -> None:
        self._cluster = cluster
        self._kinds = kinds
        self._interval_s = interval_s

    async def run(self) -> None:
        """Sweeps until cancelled."""
        await self._cluster.filled(*self._kinds)
        while True:
            await asyncio.sleep(self._interval_s * random.uniform(0.5, 1.5))  # noqa: S311 - spreads load
            await self.sweep(dt.datetime.now(dt.UTC))

    async def sweep(self, now: dt.datetime) -> None:
        """Deletes what has expired, a bounded number at a time.

        Args:
            now: by this replica's clock.
        """
        expired = await self._expired_before(now - GRACE)
        if not expired:
            return
        cluster, kind = self._cluster, expired[0].kind
        try:
            server_time = await cluster.client.time(cluster.api(kind), cluster.namespace(kind))
        except ApiError as error:
            log.warning("sweep.interrupted", error=type(error).__name__, status=error.status)
            return
        if abs(now - server_time) > GRACE:
            log.warning("clock.differs", seconds=round((now - server_time).total_seconds()))
        expired = await self._expired_before(min(now, server_time) - GRACE)
        stay = 0
        for entry in expired[:BATCH]:
            try:
                await self.delete(entry)
            except ApiError as error:
                if isinstance(error, ApiUnavailable) or error.lacks_right:
                    log.warning("sweep.interrupted", error=type(error).__name__, status=error.status)
                    return
                stay += 1
        if stay:
            log.warning("sweep.not_deleted", objects=stay)

    async def _expired_before(self, time: dt.datetime) -> list[Entry]:
        entries = [entry for kind in self._kinds for entry in self._cluster.view.all(kind)]
        return [entry async for entry in in_steps(entries) if (expiry := expiry_of(entry)) and expiry < time]

    async def delete(self, entry: Entry) -> None:
        """Deletes an object; one that is gone already is no error.

        Raises:
            ApiError: the API server did not respond.
        """
        cluster = self._cluster
        try:
            await cluster.client.delete(cluster.api(entry.kind), cluster.namespace(entry.kind), entry.name)
        except ApiError as error:
            if not error.not_found:
                raise
        cluster.view.remove(entry.kind, entry.name, entry.uid)
