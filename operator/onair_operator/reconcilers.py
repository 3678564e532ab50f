"""`RECONCILERS` declares how each kind of key is decided, and which changes make the loop look at one."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

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
    projects_of_node,
    projects_of_secret,
    source_of_key,
    streams_of_key,
    streams_of_source,
    when_gone,
    when_other,
    without_project,
)
from onair_operator.cluster.queue import Key
from onair_operator.cluster.read_parts import collection_part, source_part
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
Observe = Callable[[World, str], T | None]
MakePlan = Callable[[T, dt.datetime, OperatorSettings], list[Action]]


@dataclass(frozen=True)
class Reconciler:
    """How keys of one kind are decided."""

    kind: str
    observe: Observe[Any]
    """None if there is nothing to decide about."""
    make_plan: MakePlan[Any]
    watches: Mapping[str, Lookup]
    """By the kind of a changed object: which keys it affects."""


def _reconciler(
    kind: str, observe: Observe[T], make_plan: MakePlan[T], watches: Mapping[str, Lookup]
) -> Reconciler:
    """The plan is made of what is observed: checked here, by types."""
    return Reconciler(kind, observe, make_plan, watches)


RECONCILERS = (
    _reconciler(COLLECTION, observe_collection, plan_collection, {COLLECTION: itself}),
    _reconciler(
        SOURCE,
        observe_source,
        plan_source,
        {
            SOURCE: itself,
            COLLECTION: when_other(collection_part, children(SOURCE, BY_COLLECTION)),
            SECRET: source_of_key,
        },
    ),
    _reconciler(
        STREAM,
        observe_stream,
        plan_stream,
        {SOURCE: streams_of_source, SECRET: streams_of_key},
    ),
    _reconciler(
        PROJECT,
        observe_project,
        plan_project,
        {
            PROJECT: itself,
            COLLECTION: when_other(collection_part, children(PROJECT, BY_COLLECTION)),
            DESTINATION: parent("projectId"),
            SOURCE: when_other(source_part, children(PROJECT, BY_SHOWN)),
            LAYOUT: project_to_own_it,
            POD: project_of_pod,
            SECRET: projects_of_secret,
            NODE: projects_of_node,
        },
    ),
    _reconciler(
        DESTINATION,
        observe_destination,
        plan_destination,
        {DESTINATION: without_project, PROJECT: when_gone(children(DESTINATION, BY_PROJECT))},
    ),
    _reconciler(
        SECRET,
        observe_secret,
        plan_secret,
        {
            SECRET: labelled,
            DESTINATION: when_gone(children(SECRET, BY_DESTINATION)),
            SOURCE: when_gone(children(SECRET, BY_SOURCE)),
        },
    ),
    _reconciler(GATEWAY, observe_gateway, plan_gateway, {}),  # see `ReconcileLoop`
    _reconciler(NODE, observe_node, plan_node, {}),  # looked at by the clock
)
BY_KIND = {reconciler.kind: reconciler for reconciler in RECONCILERS}
LOOKUPS: dict[str, list[tuple[str, Lookup]]] = defaultdict(list)
"""By the kind of a changed object: the kinds of keys that it affects, and which."""
for _each in RECONCILERS:
    for _kind, _lookup in _each.watches.items():
        LOOKUPS[_kind].append((_each.kind, _lookup))


def keys_of(store: Store, change: Change) -> set[Key]:
    """The keys that a change affects."""
    found = LOOKUPS.get(change.entry.kind, ())
    return {Key(kind, name) for kind, lookup in found for name in lookup(store, change)}
