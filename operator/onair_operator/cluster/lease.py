"""Leader election by a Lease: one operator writes, the others wait in-process.

Who loses the Lease stops writing and campaigns again without ending: a
container that exits would meet the kubelet's restart back-off.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Awaitable, Callable

import structlog

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.shapes import Document
from onair_operator.settings import LeaderElectionSettings

log = structlog.get_logger()


class LeaseExpired(Exception):
    """The Lease was not renewed in time, as after a pause: another process may lead by now."""


class LeaderElection:
    """Acquires and renews the Lease."""

    def __init__(
        self, client: KubeClient, namespace: str, identity: str, settings: LeaderElectionSettings
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._identity = identity
        self._settings = settings
        self._seen: tuple[str, str] | None = None
        self._seen_at = 0.0
        self._renewed_at = 0.0
        # A margin, so that this process stops writing before another may begin.
        self._limit_s = settings.lease_duration_s * 0.75
        self._version = 0
        self._told = False
        """Of a missing right."""
        self.leading = False
        self.term = 0
        """Of this leader: grows with each one, whichever process it is, though the Lease be deleted."""

    def may_act(self) -> bool:
        """Whether this process leads for certain; to be asked before anything that only a leader may do.

        A process that was paused continues where it was, before it notices that its Lease is over.
        """
        return self.leading and time.monotonic() - self._renewed_at <= self._limit_s

    async def campaign(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Runs `lead` while this process holds the Lease, again and again; ends only when cancelled."""
        while True:
            await self._until_elected()
            log.info("leader.elected", identity=self._identity)
            self.leading, self.term = True, self._version
            work = asyncio.ensure_future(lead())
            renewal = asyncio.ensure_future(self._until_lost())
            try:
                await asyncio.wait({work, renewal}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.leading = False
                for task in (work, renewal):
                    task.cancel()
                await asyncio.gather(work, renewal, return_exceptions=True)
            if not work.cancelled() and (error := work.exception()):
                raise error
            log.warning("leader.lost", identity=self._identity)

    async def _until_elected(self) -> None:
        while True:
            if await self._try():
                return
            await asyncio.sleep(self._settings.renew_interval_s / 2)

    async def _until_lost(self) -> None:
        limit_s = self._limit_s
        while True:
            await asyncio.sleep(self._settings.renew_interval_s)
            try:
                async with asyncio.timeout(limit_s - (time.monotonic() - self._renewed_at)):
                    held = await self._try()
            except TimeoutError:
                return
            if not held and time.monotonic() - self._renewed_at > limit_s:
                return
            if not held and self._seen and self._seen[0] not in ("", self._identity):
                return

    async def _try(self) -> bool:
        """Takes or renews the Lease; true where this process holds it now."""
        started = time.monotonic()
        try:
            lease = await self._client.get(LEASES, self._namespace, self._settings.lease_name)
            if not self._may_take(lease):
                return False
            held = await self._client.replace(
                LEASES, self._namespace, self._settings.lease_name, self._held(lease)
            )
        except ApiUnavailable as error:
            log.debug("lease.unavailable", error=error.message)
            return False
        except ApiError as error:
            if not error.not_found:
                self._note(error)
                return False
            return await self._create(started)
        self._told = False
        self._renewed_at, self._version = started, int(held["metadata"]["resourceVersion"])
        self._seen = (self._identity, "")
        return True

    async def _create(self, started: float) -> bool:
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        document = self._held({**lease, "metadata": {"name": self._settings.lease_name}, "spec": {}})
        try:
            created = await self._client.create(LEASES, self._namespace, document)
        except ApiError as error:
            self._note(error)
            return False
        self._told = False
        self._renewed_at, self._version = started, int(created["metadata"]["resourceVersion"])
        return True

    def _note(self, error: ApiError) -> None:
        """Logs why the Lease is not had: once as a warning where an administrator has to grant a right."""
        if error.lacks_right and not self._told:
            self._told = True
            log.warning("lease.forbidden", error=error.message)
        else:
            log.debug("lease.contended", error=error.message)

    def _may_take(self, lease: Document) -> bool:
        """Ours, released, or seen unchanged for longer than its duration by our own clock."""
        spec = lease.get("spec") or {}
        holder, renewed = spec.get("holderIdentity") or "", spec.get("renewTime") or ""
        if (holder, renewed) != self._seen:
            self._seen, self._seen_at = (holder, renewed), time.monotonic()
        if holder in ("", self._identity):
            return True
        duration_s = spec.get("leaseDurationSeconds") or self._settings.lease_duration_s
        return time.monotonic() - self._seen_at > float(duration_s)

    def _held(self, lease: Document) -> Document:
        now = format_time(dt.datetime.now(dt.UTC), "microseconds")
        before = lease.get("spec") or {}
        changed = before.get("holderIdentity") != self._identity
        return {
            **lease,
            "spec": {
                **before,
                "holderIdentity": self._identity,
                "leaseDurationSeconds": max(1, round(self._settings.lease_duration_s)),
                "renewTime": now,
                "acquireTime": now if changed else before.get("acquireTime", now),
                "leaseTransitions": int(before.get("leaseTransitions") or 0) + int(changed),
            },
        }

    async def release(self) -> None:
        """Gives the Lease back, so that the next one need not wait for it to run out."""
        try:
            lease = await self._client.get(LEASES, self._namespace, self._settings.lease_name)
            if (lease.get("spec") or {}).get("holderIdentity") == self._identity:
                lease["spec"]["holderIdentity"] = ""
                await self._client.replace(LEASES, self._namespace, self._settings.lease_name, lease)
        except ApiError as error:
            log.debug("lease.not-released", error=error.message)
