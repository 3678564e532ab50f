"""Decides which nodes are dead: their Lease stays the same while most others' are renewed. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from onair_operator.cluster.actions import Action, DeleteIngestPod, MarkNode, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import PROJECT
from onair_operator.node.observe import ObservedNode
from onair_operator.settings import OperatorSettings

STALE_AFTER_S = 12.5
"""The kubelet renews its Lease every 10 s."""


def make_plan(observed: ObservedNode, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Marks a suspect node as dead, or a dead one as alive again; every encoder is then looked at.

    Ingest pods that a dead node is to end are deleted without it: nothing else would, until somebody does.
    """
    dead = (observed.silent or observed.dead) and observed.name in dead_nodes(observed.unchanged_s)
    deletions = [DeleteIngestPod(each) for each in observed.leaving] if dead else []
    if dead == observed.dead:
        return [*deletions]
    looks = [Requeue(Key(PROJECT, project), 0.0) for project in sorted(observed.projects)]
    return [MarkNode(observed.name, dead=dead), *deletions, *looks]


def dead_nodes(unchanged_s: Mapping[str, float]) -> frozenset[str]:
    """Nodes whose Lease is stale, unless most are: then the API server was unavailable.

    One of two is dead, as the other one's renewal shows that the API server takes them.
    """
    stale = {node for node, same_s in unchanged_s.items() if same_s > STALE_AFTER_S}
    return frozenset(stale) if 2 * len(stale) <= len(unchanged_s) else frozenset()
