"""The edges of a project's sources: which of them start or stop its broadcast, and when. Pure.

A source's new state counts once it has lasted for a time, so a reconnect is no edge. The status remembers the
state that counted last, and is written together with what an edge does: no edge counts twice, whoever leads.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from onair_crds.contract.times import parse_time
from onair_crds.resources.enums import BroadcastState, ConnectState, SourceTriggerAction
from onair_crds.resources.project import Project, ProjectSource, SourceTrigger, TriggerState
from onair_crds.resources.source import SourceStatus
from onair_operator.project.new_run import is_called_off
from onair_operator.project.observed import ObservedProject
from onair_operator.settings import TriggerSettings


@dataclass(frozen=True)
class Edge:
    """A source that has come to a state for good."""

    source: str
    connect: ConnectState
    at: dt.datetime
    """When it counted."""


@dataclass(frozen=True)
class Turn:
    """What the triggers of a project do now."""

    states: list[TriggerState] | None
    """The states that count, from now on; None if no source triggers anything."""
    stop: str | None = None
    """The source that stops the present run."""
    start: str | None = None
    """The source that starts a run, or has, as soon as the present one has ended."""
    run: str | None = None
    """The id of the run that it starts, where that has waited."""
    requeue_s: float | None = None
    """When the next state may count."""

    @property
    def start_is_connected(self) -> bool:
        """Whether the source that starts a run is there still."""
        return TriggerState(source_id=self.start or "", connect=ConnectState.CONNECTED) in (self.states or [])


def next_turn(observed: ObservedProject, now: dt.datetime, settings: TriggerSettings) -> Turn:
    """The states that count and what their edges do, those of one look in the order of their times."""
    status = observed.project.status
    known = {each.source_id: each.connect for each in status.triggers or []}
    edges: list[Edge] = []
    states: list[TriggerState] = []
    waits: list[float] = []
    triggers = dict(acting(observed.project.spec.sources))
    for name in triggers:
        source = observed.trigger_sources.get(name)
        connect, since = _present(source)
        if name not in known and source and source.unknown:
            # Its trigger has just been added: whatever it is found to be is no edge.
            continue
        # One whose trigger has just been added is taken as it is.
        counted = known.get(name, connect)
        if connect is not counted and not (source and source.unknown):
            at = since + trigger_delay(connect, settings) if since else now
            if at <= now:
                edges.append(Edge(name, connect, at))
                counted = connect
            else:
                waits.append((at - now).total_seconds())
        states.append(TriggerState(source_id=name, connect=counted))
    current = observed.broadcast
    active = current is not None and current.phase.active
    pending = _pending(observed.project, triggers)
    stop, start = _outcome(sorted(edges, key=lambda each: each.at), triggers, active, pending)
    run = status.trigger_run if start and pending else None
    return Turn(states or None, stop, start, run, min(waits, default=None))


def _pending(project: Project, triggers: Mapping[str, SourceTrigger]) -> str | None:
    """The source whose start waits, unless its trigger has gone or a stop has come since."""
    start = project.status.trigger_start
    trigger = triggers.get(start) if start else None
    kept = trigger is not None and trigger.start is SourceTriggerAction.OR
    return start if kept and not _is_stopped(project) else None


def _is_stopped(project: Project) -> bool:
    """Whether a stop has come since a start waits: one that names its run, or the first sight of Stopped."""
    wanted, current = project.spec.broadcast, project.status.broadcast
    first_seen = wanted.state is BroadcastState.STOPPED and current is not None and not current.stop_observed
    return first_seen or is_called_off(wanted, project.status)


def acting(sources: Iterable[ProjectSource]) -> Iterator[tuple[str, SourceTrigger]]:
    """The sources whose trigger does something, by name."""
    for each in sources:
        if each.trigger and SourceTriggerAction.OR in (each.trigger.start, each.trigger.stop):
            yield each.source_id, each.trigger


def may_start(project: Project, sources: Mapping[str, SourceStatus]) -> bool:
    """Whether a source may start a run now: one is to, or is connected, and nothing is on air."""
    status = project.status
    if status.broadcast and status.broadcast.phase.active:
        return False
    starts = [name for name, each in acting(project.spec.sources) if each.start is SourceTriggerAction.OR]
    connected = any(_present(sources.get(name))[0] is ConnectState.CONNECTED for name in starts)
    return connected or status.trigger_start is not None


def trigger_delay(connect: ConnectState, settings: TriggerSettings) -> dt.timedelta:
    """How long a source has to be in a state until it counts."""
    starts = connect is ConnectState.CONNECTED
    return dt.timedelta(seconds=settings.start_patience_s if starts else settings.stop_patience_s)


def _present(status: SourceStatus | None) -> tuple[ConnectState, dt.datetime | None]:
    """A source's state and since when; one that is gone is disconnected for good."""
    if status is None:
        return ConnectState.DISCONNECTED, None
    return status.connect or ConnectState.DISCONNECTED, parse_time(status.since) if status.since else None


def _outcome(
    edges: Iterable[Edge], triggers: dict[str, SourceTrigger], active: bool, start: str | None
) -> tuple[str | None, str | None]:
    """The sources that stop the present run, and that start another one."""
    stop: str | None = None
    for edge in edges:
        trigger = triggers[edge.source]
        if edge.connect is ConnectState.CONNECTED:
            if trigger.start is SourceTriggerAction.OR and (stop or not active):
                start = edge.source
        elif trigger.stop is SourceTriggerAction.OR:
            start = None
            stop = edge.source if active else None
    return stop, start
