"""Plans what is to be done for an observed project. Pure: no client, no clock, no randomness.

An unchanged world gives an empty plan, so a plan may be made as often as one likes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.contract.owners import is_owned_by
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import BroadcastPhase, ConnectState
from onair_crds.resources.project import BroadcastStatus, DestinationCounts, ProjectStatus
from onair_operator.cluster.actions import (
    Action,
    Adopt,
    AdoptSecret,
    CreatePod,
    DeletePod,
    DeleteSecret,
    DropEncoder,
    Event,
    FollowEncoder,
    PushProgram,
    Requeue,
    SetFinalizer,
    WriteStatus,
)
from onair_operator.cluster.queue import Key
from onair_operator.destination.events import destination_events
from onair_operator.destination.status import destination_status
from onair_operator.encoder.client import digest
from onair_operator.project.broadcast_states import Step, may_create, next_step
from onair_operator.project.conditions import project_verdict
from onair_operator.project.deliveries import deliveries
from onair_operator.project.observed import ObservedProject
from onair_operator.project.program import wanted_program
from onair_operator.project.summary import on_air_since, state_of
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import READY, with_ready

UNUSED_SECRET_GRACE = dt.timedelta(seconds=60)
OBSTACLES = {
    "NoCapacity",
    "ImagePullFailed",
    "ContainerFailed",
    "CompositionUnreachable",
    "CollectionNotFound",
    "BroadcastIdUsed",
}
"""Reasons of the Ready condition that are an Event, too."""


def make_plan(observed: ObservedProject, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """The actions, in order, that bring the world nearer to what its resources want."""
    step = next_step(observed, now, settings)
    statuses = _destination_statuses(observed, step.broadcast, now)
    return [
        *_follow_encoders(observed),
        *_hold(observed, step),
        *_write_status(observed, step, statuses, now, settings),
        *_encoders(observed, step, now, settings),
        *_write_destination_statuses(observed, statuses),
        *_adopt_children(observed),
        *_secrets(observed, now),
        *_release(observed, step),
        *_look_again(observed, step),
    ]


def _on_the_way(broadcast: BroadcastStatus | None) -> bool:
    return broadcast is not None and (broadcast.phase.active or broadcast.phase is BroadcastPhase.STOPPING)


def _follow_encoders(observed: ObservedProject) -> Iterator[Action]:
    """Follows the claimed pod of a run and no other of the project's."""
    broadcast = observed.broadcast
    claimed = observed.claimed_pod(broadcast) if broadcast else None
    for pod in observed.pods:
        if pod.uid in observed.encoders and (pod is not claimed or pod.gone):
            yield DropEncoder(pod.uid)
    if claimed and not claimed.gone and claimed.ip:
        certificate = observed.certificates.get(claimed.uid)
        followed = observed.encoders.get(claimed.uid)
        if certificate and (followed is None or followed.ip != claimed.ip):
            yield FollowEncoder(observed.project.name, claimed, certificate)


def _hold(observed: ObservedProject, step: Step) -> Iterator[Action]:
    project = observed.project
    held = BROADCAST_FINALIZER in project.finalizers
    if _on_the_way(step.broadcast) and not held and not project.deleting:
        yield SetFinalizer(project, BROADCAST_FINALIZER, present=True)


def _release(observed: ObservedProject, step: Step) -> Iterator[Action]:
    project = observed.project
    if BROADCAST_FINALIZER in project.finalizers and not _on_the_way(step.broadcast):
        yield SetFinalizer(project, BROADCAST_FINALIZER, present=False)


def _write_status(
    observed: ObservedProject,
    step: Step,
    statuses: dict[str, DestinationStatus],
    now: dt.datetime,
    settings: OperatorSettings,
) -> Iterator[Action]:
    project = observed.project
    verdict = project_verdict(observed, step.broadcast, settings)
    counts = _count(statuses, observed.destinations)
    status = ProjectStatus(
        observed_generation=project.generation,
        conditions=with_ready(project.status.conditions, verdict, project.generation, now),
        broadcast=step.broadcast,
        previous=step.previous,
        destinations=counts,
        state=state_of(verdict, step.broadcast, counts),
        on_air_since=on_air_since(step.broadcast),
        used=step.used if step.used is not None else project.status.used,
    )
    if status != project.status:
        yield WriteStatus(project, status)
    yield from step.events
    before = {condition.type: condition.reason for condition in project.status.conditions}.get(READY)
    if verdict.reason != before and verdict.reason in OBSTACLES:
        yield Event(project, verdict.reason, status.conditions[0].message, warning=True)


def _count(
    statuses: dict[str, DestinationStatus], destinations: tuple[Destination, ...]
) -> DestinationCounts:
    """How many of the enabled destinations are connected."""
    enabled = [d for d in destinations if d.spec.enabled and not d.deleting]
    connected = sum(statuses[d.name].connect is ConnectState.CONNECTED for d in enabled)
    return DestinationCounts(connected=connected, total=len(enabled), summary=f"{connected}/{len(enabled)}")


def _encoders(
    observed: ObservedProject, step: Step, now: dt.datetime, settings: OperatorSettings
) -> Iterator[Action]:
    broadcast = step.broadcast
    claimed = observed.claimed_pod(broadcast) if broadcast and _on_the_way(broadcast) else None
    if broadcast and broadcast.phase.active and claimed is None and may_create(broadcast, now):
        yield CreatePod(observed.project, broadcast.id, broadcast.epoch, observed.dead_nodes)
    if broadcast and claimed and claimed.ip and not claimed.gone:
        stop = broadcast.phase is BroadcastPhase.STOPPING
        program = wanted_program(observed, broadcast, settings, stop=stop)
        encoder = observed.encoders.get(claimed.uid)
        if encoder is None or encoder.pushed != digest(program):
            yield PushProgram(claimed.uid, program)
    for pod in observed.pods:
        if pod is not claimed and not pod.deleting:
            yield DeletePod(pod.name, pod.uid)


def _destination_statuses(
    observed: ObservedProject, broadcast: BroadcastStatus | None, now: dt.datetime
) -> dict[str, DestinationStatus]:
    found = deliveries(observed)
    return {
        destination.name: destination_status(
            destination,
            found[destination.name],
            observed.delivery(destination.name, broadcast),
            now,
        )
        for destination in observed.destinations
    }


def _write_destination_statuses(
    observed: ObservedProject, statuses: dict[str, DestinationStatus]
) -> Iterator[Action]:
    for destination in observed.destinations:
        status = statuses[destination.name]
        if status != destination.status and not destination.deleting:
            yield WriteStatus(destination, status)
            yield from destination_events(destination, status, observed.project)


def _adopt_children(observed: ObservedProject) -> Iterator[Action]:
    """The project becomes its collection's, destinations and layouts become the project's."""
    project, collection = observed.project, observed.collection
    if project.deleting:
        return
    if collection and not collection.deleting and not is_owned_by(project.metadata, collection.uid):
        yield Adopt(project, collection)
    for child in (*observed.destinations, *observed.layouts):
        if not child.deleting and not is_owned_by(child.metadata, project.uid):
            yield Adopt(child, project)


def _secrets(observed: ObservedProject, now: dt.datetime) -> Iterator[Action]:
    """The facade's Secrets follow the destination that they were made for; unused ones are deleted."""
    by_name = {d.name: d for d in observed.destinations if not d.deleting}
    for secret in observed.secrets.values():
        destination = by_name.get(secret.destination or "")
        if not secret.allowed or destination is None:
            continue
        if secret.name in destination.secret_names:
            if destination.uid not in secret.owners:
                yield AdoptSecret(secret.name, destination)
        elif now - secret.created > UNUSED_SECRET_GRACE:
            yield DeleteSecret(secret.name, secret.uid)


def _look_again(observed: ObservedProject, step: Step) -> Iterator[Action]:
    if step.requeue_s is not None:
        yield Requeue(Key(observed.project.kind, observed.project.name), max(0.05, step.requeue_s))
