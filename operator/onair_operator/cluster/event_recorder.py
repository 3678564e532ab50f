"""Kubernetes Events on resources: sent in the background, so that they never hold up a plan."""

from __future__ import annotations

import asyncio
import datetime as dt
import secrets

import structlog

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import EVENTS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION, MAX_TEXT
from onair_crds.shapes import Document
from onair_operator.cluster.actions import Event

log = structlog.get_logger()


class EventRecorder:
    def __init__(self, client: KubeClient, namespace: str, instance: str) -> None:
        self._client = client
        self._namespace = namespace
        self._instance = instance
        self._tasks: set[asyncio.Task[None]] = set()

    def record(self, event: Event) -> None:
        """Sends the event in the background."""
        resource = event.resource
        log.info("event", kind=resource.kind, name=resource.name, reason=event.reason, message=event.message)
        task = asyncio.create_task(self._send(self._document(event)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, document: Document) -> None:
        try:
            await self._client.create(EVENTS, self._namespace, document)
        except ApiError as error:
            log.warning("event.not-recorded", reason=document["reason"], error=error.message)

    def _document(self, event: Event) -> Document:
        resource = event.resource
        now = dt.datetime.now(dt.UTC)
        second = format_time(now, "seconds")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{resource.name}.{secrets.token_hex(8)}",
                "namespace": self._namespace,
            },
            "involvedObject": {
                "apiVersion": API_VERSION,
                "kind": resource.kind,
                "name": resource.name,
                "namespace": self._namespace,
                "uid": resource.uid,
            },
            "type": "Warning" if event.warning else "Normal",
            "reason": event.reason,
            "message": event.message[:MAX_TEXT],
            "eventTime": format_time(now, "microseconds"),
            "firstTimestamp": second,
            "lastTimestamp": second,
            "count": 1,
            "action": event.reason,
            "reportingComponent": "onair-operator",
            "reportingInstance": self._instance,
            "source": {"component": "onair-operator"},
        }

    async def drain(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
