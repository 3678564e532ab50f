"""Deliveries of a project that go on though they would not begin, and the streams that are on air. Pure."""

from __future__ import annotations

import hashlib

from onair_crds.contract.program import KeptDestination, ProgramDestination
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.destination.program_destinations import (
    KEPT_REASONS,
    Deliveries,
    DestinationRefusal,
    deliveries,
    stream_of,
    wanted,
)
from onair_operator.project.observed import ObservedProject


def kept_destinations(observed: ObservedProject, found: Deliveries) -> list[KeptDestination]:
    """Those whose Secret is gone, or whose rules became stricter: an encoder that has them continues."""
    lacking = [
        each
        for each in observed.destinations
        if wanted(each)
        and isinstance(known := found[each.name], DestinationRefusal)
        and known.reason in KEPT_REASONS
    ]
    lacking += [each.destination for each in observed.invalid_destinations if each.wanted]
    return [
        KeptDestination(id=each.name, generation=each.generation, uid=each.uid)
        for each in sorted(lacking, key=lambda d: d.name)
    ]


def streams_on_air(observed: ObservedProject, broadcast: BroadcastStatus | None) -> dict[str, str]:
    """Fingerprints of the streams that the destinations publish while the show is on air, by destination."""
    if broadcast is None or broadcast.phase not in (BroadcastPhase.STARTING, BroadcastPhase.RUNNING):
        return {}
    found = deliveries(observed)
    streams = {
        each.name: stream_of(program)
        for each in observed.destinations
        if wanted(each) and isinstance(program := found[each.name], ProgramDestination)
    }
    return {name: _fingerprint(stream) for name, stream in streams.items() if stream}


def _fingerprint(stream: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(stream).encode()).hexdigest()
