"""Kubernetes Events on resources: sent in the background, so that they never hold up a plan.

The first few repetitions of an Event are written at once, then its count now and again.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time

import structlog

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import EVENTS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION, MAX_TEXT
from onair_crds.shapes import Document
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_aggregation import EventAggregation, EventSeries
from onair_operator.cluster.event_budget import EventBudget

log = structlog.get_logger()

AT_A_TIME = 4
"""Writes on their way."""
DRAIN_S = 3.0
"""How long the end of an operator waits for its last Events."""


class EventRecorder:
    def __init__(self, client: KubeClient, namespace: str, instance: str) -> None:
        self._client = client
        self._namespace = namespace
        self._instance = instance
        self._aggregation = EventAggregation()
        self._budget = EventBudget()
        self._newest: dict[str, tuple[ResourceEvent, EventSeries]] = {}
        """What each Event is to say, by its name, while a task writes it."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(AT_A_TIME)
        self._draining = asyncio.Event()

    def record(self, event: ResourceEvent) -> None:
        """Sends the event in the background: as a new Event, or counted in the one that it repeats."""
        resource = event.resource
        log.info("event", kind=resource.kind, name=resource.name, reason=event.reason, message=event.message)
        series = self._aggregation.add(event, dt.datetime.now(dt.UTC))
        at_work = self._newest.get(series.name)
        # An Event that several resources share stays that of the first
        self._newest[series.name] = (at_work[0] if at_work else event), series
        if not at_work:
            task = asyncio.create_task(self._send(series.name))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, name: str) -> None:
        """Writes an Event, and what comes to it while it waits for its next turn."""
        written = 0
        try:
            while self._newest[name][1].count > written:
                await self._pause(self._budget.take(name, time.monotonic()))
                async with self._turns:
                    event, series = self._newest[name]
                    await self._write(event, series)
                written = series.count
        finally:
            del self._newest[name]

    async def _write(self, event: ResourceEvent, series: EventSeries) -> None:
        try:
            if series.count == 1 or not await self._count(series):
                await self._client.create(EVENTS, self._namespace, self._document(event, series))
        except ApiError as error:
            log.warning("event.not-recorded", reason=event.reason, error=error.message)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._draining.wait()

    async def _count(self, series: EventSeries) -> bool:
        """Counts an Event up; False if it has expired."""
        change = {
            "count": series.count,
            "message": series.message[:MAX_TEXT],
            "lastTimestamp": format_time(series.last, "seconds"),
        }
        try:
            await self._client.merge_patch(EVENTS, self._namespace, series.name, change)
        except ApiError as error:
            if not error.not_found:
                raise
            return False
        return True

    def _document(self, event: ResourceEvent, series: EventSeries) -> Document:
        resource = event.resource
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": series.name, "namespace": self._namespace},
            "involvedObject": {
                "apiVersion": API_VERSION,
                "kind": resource.kind,
                "name": resource.name,
                "namespace": self._namespace,
                "uid": resource.uid,
            },
            "type": "Warning" if event.warning else "Normal",
            "reason": event.reason,
            "message": series.message[:MAX_TEXT],
            "eventTime": format_time(series.first, "microseconds"),
            "firstTimestamp": format_time(series.first, "seconds"),
            "lastTimestamp": format_time(series.last, "seconds"),
            "count": series.count,
            "action": event.reason,
            "reportingComponent": "onair-operator",
            "reportingInstance": self._instance,
            "source": {"component": "onair-operator"},
        }

    async def drain(self) -> None:
        """Writes what is left, within a bound."""
        self._draining.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=DRAIN_S)
            for task in late:
                task.cancel()
