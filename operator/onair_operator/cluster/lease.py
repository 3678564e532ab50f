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
from prometheus_client import Gauge

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError, ApiUnavailable, ApiUnreachable
from onair_crds.shapes import Document
from onair_operator.cluster.clock_check import ClockCheck, utc_now
from onair_operator.settings import LeaderElectionSettings

log = structlog.get_logger()


LEADING = Gauge("onair_operator_leading", "1 while this replica leads.")
CLOCK_AHEAD = Gauge(
    "onair_operator_clock_ahead_seconds", "By how much this replica's clock is ahead of the API server's."
)
CLOCK_RETRY_S = 10.0
"""Until a process whose clock is wrong takes the Lease again, to see whether it is right by now."""


class LeaseExpired(Exception):
    """The Lease was not renewed in time, as after a pause: another process may lead by now."""


class LeaderElection:
    """Acquires and renews the Lease."""

    def __init__(
        self,
        client: KubeClient,
        namespace: str,
        identity: str,
        settings: LeaderElectionSettings,
        now: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._identity = identity
        self._settings = settings
        self._seen: tuple[str, str] | None = None
        self._seen_at = 0.0
        self._clock = ClockCheck(now)
        self._looked_at: dt.datetime | None = None
        """By our wall clock, when the Lease was last looked at."""
        self._lease: Document | None = None
        """As this process wrote it last; None where another may have changed it."""
        self._renewed_at = 0.0
        # A margin, so that this process stops writing before another may begin.
        self._limit_s = settings.lease_duration_s * 0.75
        self._version = 0
        self._told = False
        """Of a missing right."""
        self.leading = False
        self.term = 0
        """Of this leader: grows with each one, whichever process it is, though the Lease be deleted."""
        LEADING.set_function(self.may_act)
        CLOCK_AHEAD.set_function(lambda: self._clock.ahead_s)

    def may_act(self) -> bool:
        """Whether this process leads for certain; to be asked before anything that only a leader may do.

        A process that was paused continues where it was, before it notices that its Lease is over. One whose
        clock is wrong would end shows and delete Secrets before their time.
        """
        in_time = time.monotonic() - self._renewed_at <= self._limit_s
        return self.leading and in_time and self._clock.is_right()

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
            if not await self._try():
                await asyncio.sleep(self._settings.renew_interval_s / 2)
            elif self._clock.is_right():
                return
            else:
                self._clock.report()
                await self.release()
                await asyncio.sleep(CLOCK_RETRY_S)

    async def _until_lost(self) -> None:
        due = self._renewed_at + self._settings.renew_interval_s
        while True:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            started = time.monotonic()
            try:
                async with asyncio.timeout(self._renewed_at + self._limit_s - started):
                    held = await self._try()
            except TimeoutError:
                return
            if held and not self._clock.is_right():
                # It is given back by the campaign, once the work has ended
                return
            if held:
                due = self._renewed_at + self._settings.renew_interval_s
            elif self._seen and self._seen[0] not in ("", self._identity):
                return
            else:
                # An attempt that took longer than this is followed by the next one at once.
                due = started + self._settings.renew_interval_s / 2

    async def _try(self) -> bool:
        """Takes or renews the Lease; true where this process holds it now."""
        try:
            return await self._renew() or await self._take()
        except ApiUnavailable as error:
            log.debug("lease.unavailable", error=error.message)
        except ApiError as error:
            self._note(error)
        return False

    async def _renew(self) -> bool:
        """Renews the Lease as it was written last, without another look; false if that is not known."""
        if self._lease is None:
            return False
        try:
            await self._write(self._lease)
        except ApiUnavailable:
            raise
        except ApiError as error:
            # Changed by an attempt whose response never came, or by another process.
            log.debug("lease.changed", error=error.message)
            self._lease = None
            return False
        return True

    async def _take(self) -> bool:
        """Looks at the Lease, and takes it if this process may."""
        looked_at = self._clock.now()
        try:
            lease = await self._in_time(self._client.get(LEASES, self._namespace, self._settings.lease_name))
        except ApiError as error:
            if not error.not_found:
                raise
            lease = None
        may_take = lease is None or self._may_take(lease)
        self._looked_at = looked_at
        if not may_take:
            return False
        await self._write(lease)
        return True

    async def _write(self, lease: Document | None) -> None:
        """Writes the Lease with this process as its holder, from before which on the duration counts.

        Nobody has seen it sooner, and nothing is written if another process has taken it meanwhile.

        Args:
            lease: as it was read or written last; None to create it.
        """
        started, sent, name = time.monotonic(), self._clock.now(), self._settings.lease_name
        if lease is None:
            empty = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}
            request = self._client.create(LEASES, self._namespace, self._held({**empty, "spec": {}}))
        else:
            request = self._client.replace(LEASES, self._namespace, name, self._held(lease))
        self._lease = await self._in_time(request)
        self._clock.compare(self._lease, sent)
        self._told = False
        self._renewed_at = started
        self._version = int(self._lease["metadata"]["resourceVersion"])
        self._seen = (self._identity, "")

    async def _in_time(self, request: Awaitable[Document]) -> Document:
        """The response, soon enough that a request which hangs leaves time for others.

        Raises:
            ApiUnreachable: there is none yet; the request may take effect nevertheless.
        """
        try:
            async with asyncio.timeout(self._limit_s / 3):
                return await request
        except TimeoutError as error:
            raise ApiUnreachable(503, "ServiceUnavailable", "no response in time") from error

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
            if self._looked_at and self._seen and self._seen[1] != renewed:
                self._compare_clocks(lease, self._looked_at)
            self._seen, self._seen_at = (holder, renewed), time.monotonic()
        if holder in ("", self._identity):
            return True
        duration_s = spec.get("leaseDurationSeconds") or self._settings.lease_duration_s
        return time.monotonic() - self._seen_at > float(duration_s)

    def _compare_clocks(self, lease: Document, looked_at: dt.datetime) -> None:
        """Finds out by another process's renewal whether this one may lead later."""
        was_right = self._clock.is_right()
        self._clock.compare(lease, looked_at)
        if was_right and not self._clock.is_right():
            self._clock.report()

    def _held(self, lease: Document) -> Document:
        now = format_time(self._clock.now(), "microseconds")
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
        self._lease = None
        try:
            lease = await self._client.get(LEASES, self._namespace, self._settings.lease_name)
            if (lease.get("spec") or {}).get("holderIdentity") == self._identity:
                lease["spec"]["holderIdentity"] = ""
                await self._client.replace(LEASES, self._namespace, self._settings.lease_name, lease)
        except ApiError as error:
            log.debug("lease.not-released", error=error.message)
