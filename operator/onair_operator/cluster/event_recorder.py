"""Kubernetes Events on resources: sent in the background, so that they never hold up a plan."""

from __future__ import annotations

import asyncio
import datetime as dt

import structlog

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import EVENTS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION, MAX_TEXT
from onair_crds.shapes import Document
from onair_operator.cluster.actions import Event
from onair_operator.cluster.event_aggregation import EventAggregation, Series

log = structlog.get_logger()


class EventRecorder:
    def __init__(self, client: KubeClient, namespace: str, instance: str) -> None:
        self._client = client
        self._namespace = namespace
        self._instance = instance
        self._aggregation = EventAggregation()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """The latest write of each Event, by its name."""

    def record(self, event: Event) -> None:
        """Sends the event in the background: as a new Event, or counted in the one that it repeats."""
        resource = event.resource
        log.info("event", kind=resource.kind, name=resource.name, reason=event.reason, message=event.message)
        series = self._aggregation.add(event, dt.datetime.now(dt.UTC))
        former = self._tasks.get(series.name)
        task = asyncio.create_task(self._send(event, series, former))
        self._tasks[series.name] = task
        task.add_done_callback(lambda ended: self._forget(series.name, ended))

    def _forget(self, name: str, ended: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is ended:
            del self._tasks[name]

    async def _send(self, event: Event, series: Series, former: asyncio.Task[None] | None) -> None:
        if former:
            await asyncio.wait([former])
        try:
            if series.count == 1 or not await self._count(series):
                await self._client.create(EVENTS, self._namespace, self._document(event, series))
        except ApiError as error:
            log.warning("event.not-recorded", reason=event.reason, error=error.message)

    async def _count(self, series: Series) -> bool:
        """Counts an Event up; False where it has expired."""
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

    def _document(self, event: Event, series: Series) -> Document:
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
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
