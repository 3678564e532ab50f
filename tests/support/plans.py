"""Plans of projects, and what they would write."""

from __future__ import annotations

import datetime as dt

from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.resources.destination import DestinationStatus
from onair_crds.resources.project import BroadcastStatus, ProjectStatus
from onair_operator.cluster.actions import (
    Action,
    Adopt,
    ClaimStreams,
    CreatePod,
    DeletePod,
    PushProgram,
    ResourceEvent,
    SetFinalizer,
    WriteStatus,
)
from onair_operator.encoder.observed import EncoderView
from onair_operator.encoder.program_push import digest
from onair_operator.project.observed import ObservedProject
from onair_operator.project.plan import make_plan
from onair_operator.settings import OperatorSettings


def plan(
    observed: ObservedProject, now: dt.datetime = NOW, settings: OperatorSettings = SETTINGS
) -> list[Action]:
    return make_plan(observed, now, settings)


def settled(observed: ObservedProject) -> ObservedProject:
    """The world after the plan's status writes, pushes and ownerships have been carried out."""
    show, destinations, encoders = observed.project, list(observed.destinations), dict(observed.encoders)
    streams = observed.streams
    for action in plan(observed):
        match action:
            case WriteStatus() if action.resource.kind == "Project":
                show = show.model_copy(update={"status": action.status})
            case WriteStatus():
                destinations = [
                    d.model_copy(update={"status": action.status}) if d.name == action.resource.name else d
                    for d in destinations
                ]
            case SetFinalizer():
                finalizers = [BROADCAST_FINALIZER] if action.present else []
                show = show.model_copy(update={"metadata": {**show.metadata, "finalizers": finalizers}})
            case PushProgram():
                view = encoders.get(action.pod_uid)
                encoders[action.pod_uid] = EncoderView(
                    action.pod_uid, True, view.status if view else None, digest(action.program)
                )
            case ClaimStreams():
                streams = action.streams
            case Adopt() | CreatePod() | DeletePod() | ResourceEvent():
                pass
    return ObservedProject(
        **{
            **vars(observed),
            "project": show,
            "destinations": tuple(destinations),
            "encoders": encoders,
            "streams": streams,
        }
    )


def status_of(observed: ObservedProject, settings: OperatorSettings = SETTINGS) -> ProjectStatus:
    """The status that the plan writes, or the present one."""
    written = [
        a.status
        for a in plan(observed, settings=settings)
        if isinstance(a, WriteStatus) and isinstance(a.status, ProjectStatus)
    ]
    return written[0] if written else observed.project.status


def destination_statuses(observed: ObservedProject) -> dict[str, DestinationStatus]:
    """The statuses that the plan writes, by the destination's name."""
    return {
        a.resource.name: a.status
        for a in plan(observed)
        if isinstance(a, WriteStatus) and isinstance(a.status, DestinationStatus)
    }


def broadcast_of(observed: ObservedProject) -> BroadcastStatus:
    broadcast = status_of(observed).broadcast
    assert broadcast is not None
    return broadcast


def ready_of(observed: ObservedProject) -> tuple[str, str]:
    condition = status_of(observed).conditions[0]
    return condition.status, condition.reason


def released(observed: ObservedProject) -> bool:
    """Whether the plan lets the project's deletion go on."""
    return SetFinalizer(observed.project, BROADCAST_FINALIZER, present=False) in plan(observed)


def kinds(observed: ObservedProject) -> list[type]:
    return [type(a) for a in plan(observed)]
