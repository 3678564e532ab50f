"""`RECONCILERS` declares how each kind of key is decided, and which changes make the loop look at one."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from onair_crds.kube.store import Change, Store
from onair_operator.cluster.actions import Action
from onair_operator.cluster.lookups import (
    Lookup,
    children,
    itself,
    labelled,
    parent,
    project_of_pod,
    project_to_own_it,
    projects_of_secret,
    projects_with_pods,
    source_of_key,
    streams_of_key,
    streams_of_source,
    when_gone,
    without_project,
)
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import (
    BY_COLLECTION,
    BY_DESTINATION,
    BY_PROJECT,
    BY_SHOWN,
    BY_SOURCE,
    COLLECTION,
    DESTINATION,
    GATEWAY,
    LAYOUT,
    NODE,
    POD,
    PROJECT,
    SECRET,
    SOURCE,
    STREAM,
)
from onair_operator.cluster.world import World
from onair_operator.collection.observe import observe as observe_collection
from onair_operator.collection.plan import make_plan as plan_collection
from onair_operator.destination.observe import observe as observe_destination
from onair_operator.destination.plan import make_plan as plan_destination
from onair_operator.gateway.observe import observe as observe_gateway
from onair_operator.gateway.plan import make_plan as plan_gateway
from onair_operator.node.observe import observe as observe_node
from onair_operator.node.plan import make_plan as plan_node
from onair_operator.project.observe import observe as observe_project
from onair_operator.project.plan import make_plan as plan_project
from onair_operator.secret.observe import observe as observe_secret
from onair_operator.secret.plan import make_plan as plan_secret
from onair_operator.settings import OperatorSettings
from onair_operator.source.observe import observe as observe_source
from onair_operator.source.plan import make_plan as plan_source
from onair_operator.stream.observe import observe as observe_stream
from onair_operator.stream.plan import make_plan as plan_stream

T = TypeVar("T")
Planner = Callable[[World, str, dt.datetime, OperatorSettings], list[Action]]


@dataclass(frozen=True)
class Reconciler:
    """How keys of one kind are decided."""

    kind: str
    plan: Planner
    watches: Mapping[str, Lookup]
    """By the kind of a changed object: which keys it bears on."""


def _decided_by(
    observe: Callable[[World, str], T | None],
    make_plan: Callable[[T, dt.datetime, OperatorSettings], list[Action]],
) -> Planner:
    def plan(world: World, name: str, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
        observed = observe(world, name)
        return [] if observed is None else make_plan(observed, now, settings)

    return plan


RECONCILERS = (
    Reconciler(COLLECTION, _decided_by(observe_collection, plan_collection), {COLLECTION: itself}),
    Reconciler(
        SOURCE,
        _decided_by(observe_source, plan_source),
        {SOURCE: itself, COLLECTION: children(SOURCE, BY_COLLECTION), SECRET: source_of_key},
    ),
    Reconciler(
        STREAM,
        _decided_by(observe_stream, plan_stream),
        {SOURCE: streams_of_source, SECRET: streams_of_key},
    ),
    Reconciler(
        PROJECT,
        _decided_by(observe_project, plan_project),
        {
            PROJECT: itself,
            COLLECTION: children(PROJECT, BY_COLLECTION),
            DESTINATION: parent("projectId"),
            SOURCE: children(PROJECT, BY_SHOWN),
            LAYOUT: project_to_own_it,
            POD: project_of_pod,
            SECRET: projects_of_secret,
            NODE: projects_with_pods,
        },
    ),
    Reconciler(
        DESTINATION,
        _decided_by(observe_destination, plan_destination),
        {DESTINATION: without_project, PROJECT: when_gone(children(DESTINATION, BY_PROJECT))},
    ),
    Reconciler(
        SECRET,
        _decided_by(observe_secret, plan_secret),
        {
            SECRET: labelled,
            DESTINATION: when_gone(children(SECRET, BY_DESTINATION)),
            SOURCE: when_gone(children(SECRET, BY_SOURCE)),
        },
    ),
    Reconciler(GATEWAY, _decided_by(observe_gateway, plan_gateway), {}),  # see `ReconcileLoop`
    Reconciler(NODE, _decided_by(observe_node, plan_node), {}),  # looked at by the clock
)
PLANNERS = {reconciler.kind: reconciler.plan for reconciler in RECONCILERS}
LOOKUPS: dict[str, list[tuple[str, Lookup]]] = defaultdict(list)
"""By the kind of a changed object: the kinds of keys that it bears on, and which."""
for _each in RECONCILERS:
    for _kind, _lookup in _each.watches.items():
        LOOKUPS[_kind].append((_each.kind, _lookup))


def keys_of(store: Store, change: Change) -> set[Key]:
    """The keys that a change bears on."""
    found = LOOKUPS.get(change.entry.kind, ())
    return {Key(kind, name) for kind, lookup in found for name in lookup(store, change)}
