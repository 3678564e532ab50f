"""Which layout a run draws where its project selects none: the newest scene at its start. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.scene.observed import ObservedScene


def with_default_layout(broadcast: BroadcastStatus | None, scene: ObservedScene) -> BroadcastStatus | None:
    """The run with its default layout; once there is an encoder it stays for the run.

    Until then a newer one counts: what was created before the start may be seen after it.
    """
    if broadcast is None or scene.newest is None or broadcast.layout == scene.newest:
        return broadcast
    undecided = broadcast.phase is BroadcastPhase.WAITING
    if undecided or (broadcast.phase is BroadcastPhase.STARTING and broadcast.layout is None):
        return broadcast.model_copy(update={"layout": scene.newest})
    return broadcast
