"""Which objects a change of another one affects: the look-ups that `RECONCILERS` consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from onair_crds.contract.ingest import source_of_secret
from onair_crds.contract.labels import DESTINATION_LABEL, PROJECT_LABEL, SOURCE_LABEL
from onair_crds.contract.owners import owner_is_wrong
from onair_crds.kube.store import Change, Entry, Store
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import Document
from onair_operator.cluster.source_streams import streams_of
from onair_operator.cluster.watched_kinds import (
    BY_NODE,
    BY_SECRET,
    BY_STREAM,
    DESTINATION,
    LAYOUT,
    ON_AIR,
    POD,
    PROJECT,
    PULLED,
)

ON_THE_WAY = {phase.value for phase in BroadcastPhase if phase.active}

Lookup = Callable[[Store, Change], Iterable[str]]
"""The names that a change affects."""


def itself(_: Store, change: Change) -> Iterable[str]:
    """The object that has changed."""
    return (change.entry.name,)


def parent(field: str) -> Lookup:
    """Looks up what a field of the spec names."""
    return lambda _, change: (str(value),) if (value := change.entry.spec.get(field)) else ()


def children(kind: str, index: str) -> Lookup:
    """Looks up the objects of a kind that an index has under the changed one's name."""
    return lambda store, change: [each.name for each in store.select(kind, index, change.entry.name)]


def when_gone(lookup: Lookup) -> Lookup:
    """Looks up the same, but only where the object was deleted."""
    return lambda store, change: lookup(store, change) if change.after is None else ()


def when_other(part: Callable[[Entry], object], lookup: Lookup) -> Lookup:
    """Looks up the same, but not where this part of the object is as it was."""

    def look_up(store: Store, change: Change) -> Iterable[str]:
        before, after = change
        same = before is not None and after is not None and part(before) == part(after)
        return () if same else lookup(store, change)

    return look_up


def without_project(store: Store, change: Change) -> Iterable[str]:
    """The object itself, if its project does not exist: otherwise the project's plan has it."""
    exists = store.entry(PROJECT, str(change.entry.spec.get("projectId"))) is not None
    return () if exists else (change.entry.name,)


def labelled(store: Store, change: Change) -> Iterable[str]:
    """The Secret itself, where the facade made it for a destination or a source."""
    labels = change.entry.labels
    return (change.entry.name,) if DESTINATION_LABEL in labels or SOURCE_LABEL in labels else ()


def project_of_pod(_: Store, change: Change) -> Iterable[str]:
    """The project whose pod it is, if it has been claimed."""
    project = change.entry.labels.get(PROJECT_LABEL)
    return (project,) if project else ()


def project_to_own_it(store: Store, change: Change) -> Iterable[str]:
    """The project of a layout that is not its project's yet, or is not to be any more."""
    layout = change.after
    if layout is None or layout.deleting:
        return ()
    project = store.entry(PROJECT, str(layout.spec.get("projectId")))
    return (project.name,) if project and owner_is_wrong(layout.metadata, project.uid) else ()


def project_that_draws(store: Store, change: Change) -> str | None:
    """The project of a layout that may be on air, to which its content is something."""
    layout = change.entry
    project = store.entry(PROJECT, str(layout.spec.get("projectId"))) if layout.kind == LAYOUT else None
    phase = (project.status.get("broadcast") or {}).get("phase") if project else None
    return project.name if project and phase in ON_THE_WAY else None


def projects_of_secret(store: Store, change: Change) -> Iterable[str]:
    """Those whose destinations refer to the Secret, or had it made for them."""
    destinations = store.select(DESTINATION, BY_SECRET, change.entry.name)
    owner = store.entry(DESTINATION, change.entry.labels.get(DESTINATION_LABEL, ""))
    found = (each.spec.get("projectId") for each in (*destinations, *([owner] if owner else [])))
    return [str(project) for project in found if project]


def projects_of_node(store: Store, change: Change) -> Iterable[str]:
    """Projects with a pod on a node that came or went, or on none; any other change is its heartbeat."""
    if change.before and change.gone is None:
        return ()
    pods = (pod for node in (change.entry.name, "") for pod in store.select(POD, BY_NODE, node))
    return _projects(pods)


def shows_on_air(store: Store) -> set[str]:
    """The projects of which a run is under way, or of which there are pods."""
    return {each.name for each in store.select(PROJECT, ON_AIR)}.union(_projects(store.entries(POD)))


def _projects(pods: Iterable[Entry]) -> list[str]:
    return [project for pod in pods if (project := pod.labels.get(PROJECT_LABEL))]


def source_of_key(_: Store, change: Change) -> Iterable[str]:
    """The source whose stream key the Secret holds, if it does."""
    source = source_of_secret(change.entry.name)
    return (source,) if source else ()


def streams_of_source(store: Store, change: Change) -> Iterable[str]:
    """The streams of a source, before the change and after it."""
    versions = [entry for entry in change if entry]
    return {stream for entry in versions for stream in streams_of(store, entry)}


def streams_of_key(_: Store, change: Change) -> Iterable[str]:
    """The streams of a stream key, before the change and after it."""
    versions = [entry for entry in change if entry]
    return {key[0] for entry in versions for index, key in entry.index_keys if index == BY_STREAM}


class _Pull(NamedTuple):
    spec: Document
    gateway: str


def gateways_of_pull(_: Store, change: Change) -> Iterable[str]:
    """Gateways that pull something else now: not that of a source of which only the state has changed."""
    before, after = _pull(change.before), _pull(change.after)
    return {pull.gateway for pull in (before, after) if pull} if before != after else ()


def _pull(entry: Entry | None) -> _Pull | None:
    """What a gateway does with a source, and which does; None for what is pulled by none."""
    if entry is None or entry.deleting or (PULLED, ()) not in entry.index_keys:
        return None
    gateway = entry.status.get("gateway")
    return _Pull(entry.spec, gateway) if gateway else None
