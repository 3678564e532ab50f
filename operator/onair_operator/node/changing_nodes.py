"""Finds the nodes of which something may have to be done, by one pass over all that is known of them."""

from __future__ import annotations

from onair_operator.cluster.world import World
from onair_operator.node.observe import suspects
from onair_operator.node.plan import dead_nodes


def changing_nodes(world: World) -> frozenset[str]:
    """Nodes that are dead or alive again and not marked so, and dead ones that are to end an ingest pod.

    Others that are silent, which may last for hours, need no look: each goes through all encoders.
    """
    stale, marked = dead_nodes(world.nodes.unchanged_s), world.nodes.dead
    leaving = {each.node for each in world.ingest_pods.leaving}
    changing = (stale ^ marked) | (stale & leaving)
    return changing & (suspects(world) | marked)
