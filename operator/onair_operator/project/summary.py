"""The state of a show in a few words, as `kubectl get` has no room for sentences. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus, DestinationCounts
from onair_operator.specs.ready import Verdict


def state_of(
    verdict: Verdict, broadcast: BroadcastStatus | None, counts: DestinationCounts, missing_layers: int = 0
) -> str:
    """The reason of Ready, and of a show on air what nobody gets, and who gets nothing.

    Args:
        missing_layers: those on air that cannot be shown.
    """
    if broadcast is None or broadcast.phase is not BroadcastPhase.RUNNING:
        return verdict.reason
    words = [verdict.reason]
    if missing_layers:
        words.append(f"{missing_layers} layer{'s' * (missing_layers > 1)} missing")
    if down := counts.total - counts.connected:
        words.append(f"{down} of {counts.total} destination{'s' * (counts.total > 1)} down")
    return ", ".join(words)


def on_air_since(broadcast: BroadcastStatus | None) -> str | None:
    """When the present run went on air; None once it has ended."""
    return broadcast.start if broadcast and broadcast.phase.active else None
