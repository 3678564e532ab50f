"""The state of a show in a few words, as `kubectl get` has no room for sentences. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus, DestinationCounts
from onair_operator.specs.ready import Verdict


def state_of(verdict: Verdict, broadcast: BroadcastStatus | None, counts: DestinationCounts) -> str:
    """The reason of Ready, and how many destinations get nothing of a show that is on air."""
    down = counts.total - counts.connected
    if broadcast is None or broadcast.phase is not BroadcastPhase.RUNNING or not down:
        return verdict.reason
    return f"{verdict.reason}, {down} of {counts.total} destination{'s' * (counts.total > 1)} down"


def on_air_since(broadcast: BroadcastStatus | None) -> str | None:
    """When the present run went on air; None once it has ended."""
    return broadcast.start if broadcast and broadcast.phase.active else None
