"""A show with sources that start and stop it, at times that a test says, looked at by the operator's plan."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.support.worlds import NOW, SETTINGS, encoder, held, pod, project, world

from onair_crds.contract.times import format_time
from onair_crds.resources.project import BroadcastStatus, Project
from onair_crds.resources.source import SourceStatus
from onair_crds.shapes import Document
from onair_operator.cluster.actions import Requeue, ResourceEvent, WriteStatus
from onair_operator.project.observed import ObservedProject
from onair_operator.project.plan import make_plan


def trigger(source_id: str, start: str = "Ignore", stop: str = "Ignore") -> Document:
    return {"sourceId": source_id, "trigger": {"start": start, "stop": stop}}


class TriggeredShow:
    """All that persists is in the resources, so that every look is as good as a new leader's first."""

    def __init__(self, *triggers: Document, **spec: Any) -> None:
        self.now = NOW
        self.project = project(**{"state": "Stopped", "sources": list(triggers), "metadata": held(), **spec})
        self.sources: dict[str, SourceStatus] = {}
        self.runs: list[str] = []
        """Ids of all runs, in order."""
        self.writes = 0
        self.used_up: str | None = None
        """The quota without room for another run."""
        self.ends_slowly = False
        """Whether encoders take their time to end their streams."""
        self.events: list[str] = []
        """Reasons of all that was reported."""
        self.requeue_s: float | None = None
        for each in triggers:
            self.disconnect(each["sourceId"])

    @property
    def broadcast(self) -> BroadcastStatus | None:
        return self.project.status.broadcast

    @property
    def on_air(self) -> bool:
        return self.broadcast is not None and self.broadcast.phase.active

    def connect(self, name: str) -> None:
        self._state(name, "Connected")

    def disconnect(self, name: str) -> None:
        self._state(name, "Disconnected")

    def lose(self, name: str) -> None:
        """Nothing is known of it any more."""
        self._state(name, "Disconnected", unknown=True)

    def _state(self, name: str, connect: str, *, unknown: bool | None = None) -> None:
        status = {"connect": connect, "since": format_time(self.now), "unknown": unknown}
        self.sources[name] = SourceStatus.model_validate(status)

    def want(self, state: str, **broadcast: str) -> None:
        """Writes the spec, as a user does."""
        document = self.project.model_dump(mode="json", by_alias=True)
        document["spec"]["broadcast"] = {"state": state, **broadcast}
        self._write(document)

    def change(self, *triggers: Document) -> None:
        document = self.project.model_dump(mode="json", by_alias=True)
        document["spec"]["sources"] = list(triggers)
        self._write(document)

    def _write(self, document: Document) -> None:
        document["metadata"]["generation"] += 1
        self.project = Project.model_validate(document)

    def look(self) -> None:
        """Plans until nothing is to be written any more, as the loop does."""
        for _ in range(5):
            plan = make_plan(self._observed(), self.now, SETTINGS)
            waits = [each.after_s for each in plan if isinstance(each, Requeue)]
            self.requeue_s = min(waits, default=None)
            written = [each.status for each in plan if isinstance(each, WriteStatus)]
            if not written:
                return
            self.writes += 1
            self.events += [each.reason for each in plan if isinstance(each, ResourceEvent)]
            document = self.project.model_dump(mode="json", by_alias=True)
            document["status"] = written[0].manifest()
            self.project = Project.model_validate(document)
            if self.broadcast and self.broadcast.id not in self.runs:
                self.runs.append(self.broadcast.id)
        raise AssertionError("the plan does not come to rest")

    def _observed(self) -> ObservedProject:
        known: dict[str, Any] = {"trigger_sources": self.sources, "used_up": self.used_up}
        if self.ends_slowly and self.broadcast:
            phase = "running" if self.broadcast.phase.active else "stopping"
            known["pods"] = [pod(id=self.broadcast.id)]
            known["encoders"] = [encoder(phase, self.broadcast.id)]
        return world(self.project, **known)

    def after(self, seconds: float) -> None:
        """Lets time pass, and looks."""
        self.now += dt.timedelta(seconds=seconds)
        self.look()
