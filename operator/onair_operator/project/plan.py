"""Plans what is to be done for an observed project. Pure: no client, no clock, no randomness.

An unchanged world gives an empty plan, so a plan may be made as often as one likes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import islice

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.contract.program import ProgramDestination
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import BroadcastPhase, ConnectState
from onair_crds.resources.project import BroadcastStatus, DestinationCounts, ProjectStatus
from onair_crds.resources.room import RoomStatus
from onair_operator.cluster.actions import (
    Action,
    AdoptSecret,
    ClaimStreams,
    DeleteSecret,
    Requeue,
    ResourceEvent,
    SetFinalizer,
    WriteStatus,
)
from onair_operator.cluster.adoption import follow_owner
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import DESTINATION
from onair_operator.destination.conflict import with_conflict
from onair_operator.destination.events import destination_events
from onair_operator.destination.program_destinations import DestinationRefusal, deliveries
from onair_operator.destination.status import DeliveryState, destination_status
from onair_operator.destination.storage_token import expired_token, next_token_end_s
from onair_operator.project.broadcast_state_machine import BroadcastStep, has_encoders, next_step
from onair_operator.project.conditions import on_air_verdict, project_verdict
from onair_operator.project.deliveries import streams_on_air
from onair_operator.project.encoders import create_and_delete_pods, follow_encoders
from onair_operator.project.next_room import holds_project, next_room, room_actions
from onair_operator.project.observed import ObservedProject
from onair_operator.project.previewed_sources import show_previews
from onair_operator.project.program import hand_over_program
from onair_operator.project.summary import on_air_since, state_of
from onair_operator.scene.conditions import missing, newly_failed, with_failed_layers
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import ON_AIR, READY, with_condition, with_ready

UNUSED_SECRET_GRACE = dt.timedelta(seconds=60)
CHILDREN_IN_A_PLAN = 50
"""Statuses that one plan writes, and owners: a worker is not kept for as long as a thousand writes take."""
OBSTACLES = {
    "Invalid",
    "NoCapacity",
    "PodRefused",
    "ImagePullFailed",
    "ContainerFailed",
    "CompositionUnreachable",
    "ProgramRefused",
    "CollectionNotFound",
    "BroadcastIdUsed",
    "QuotaExceeded",
    "Slate",
    "NoLayout",
    "InvalidLayout",
}
"""Reasons of the Ready condition that are an Event, too."""


def make_plan(observed: ObservedProject, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """The actions, in order, that bring the world nearer to what its resources want."""
    step = next_step(observed, now, settings)
    statuses = _destination_statuses(observed, step.broadcast, now)
    room = next_room(observed, step.broadcast, now)
    holds = has_encoders(step) or holds_project(observed, room)
    return [
        *_hold(observed, holds=holds),
        *_write_status(observed, step, statuses, room, now, settings),
        *_release(observed, holds=holds),
        *follow_encoders(observed, step, now),
        *create_and_delete_pods(observed, step, now),
        *hand_over_program(observed, step, now, settings),
        *_write_destination_statuses(observed, statuses),
        *_claim_streams(observed, step),
        *_adopt_children(observed),
        *_secrets(observed, now),
        *room_actions(observed, room, now),
        *show_previews(observed, room),
        *_look_again(observed, step, now),
    ]


def _hold(observed: ObservedProject, *, holds: bool) -> Iterator[Action]:
    """What has an encoder or a room is not gone before these are, whoever leads by then."""
    project = observed.project
    held = BROADCAST_FINALIZER in project.finalizers
    if holds and not held and not project.deleting:
        yield SetFinalizer(project, BROADCAST_FINALIZER, present=True)


def _release(observed: ObservedProject, *, holds: bool) -> Iterator[Action]:
    """Before all that a namespace which is being deleted may forbid: what is the project's goes with it."""
    project = observed.project
    if BROADCAST_FINALIZER in project.finalizers and not holds:
        yield SetFinalizer(project, BROADCAST_FINALIZER, present=False)


def _write_status(
    observed: ObservedProject,
    step: BroadcastStep,
    statuses: dict[str, DestinationStatus],
    room: RoomStatus | None,
    now: dt.datetime,
    settings: OperatorSettings,
) -> Iterator[Action]:
    project = observed.project
    held = step.trigger_start if step.held else None
    verdict = project_verdict(observed, step.broadcast, settings, held)
    counts = _count(statuses, observed.destinations)
    on_air = on_air_verdict(observed, step.broadcast, verdict)
    encoder = observed.encoder_of(step.broadcast) if step.broadcast else None
    said = encoder.status if encoder else None
    running = step.broadcast is not None and step.broadcast.phase is BroadcastPhase.RUNNING
    conditions = with_failed_layers(project.status.conditions, said, project.generation, now, running=running)
    conditions = with_condition(conditions, ON_AIR, on_air, project.generation, now)
    status = ProjectStatus(
        observed_generation=project.generation,
        conditions=with_ready(conditions, verdict, project.generation, now),
        broadcast=step.broadcast,
        previous=step.previous,
        draining=list(step.draining) or None,
        destinations=counts,
        state=state_of(verdict, step.broadcast, counts, missing(said)),
        on_air_since=on_air_since(step.broadcast),
        used=(project.status.used if step.used is None else step.used) or None,
        triggers=step.triggers,
        trigger_start=step.trigger_start,
        trigger_run=step.trigger_run,
        room=room,
    )
    if status != project.status:
        yield WriteStatus(project, status)
    yield from step.events
    before = {condition.type: condition.reason for condition in project.status.conditions}.get(READY)
    if verdict.reason != before and verdict.reason in OBSTACLES:
        yield ResourceEvent(project, verdict.reason, status.conditions[0].message, warning=True)
    if failed := newly_failed(project.status.conditions, conditions):
        yield ResourceEvent(project, failed.reason, failed.message, warning=True)


def _count(
    statuses: dict[str, DestinationStatus], destinations: tuple[Destination, ...]
) -> DestinationCounts:
    """How many of the enabled destinations are connected."""
    enabled = [d for d in destinations if d.spec.enabled and not d.deleting]
    connected = sum(statuses[d.name].connect is ConnectState.CONNECTED for d in enabled)
    return DestinationCounts(connected=connected, total=len(enabled), summary=f"{connected}/{len(enabled)}")


def _destination_statuses(
    observed: ObservedProject, broadcast: BroadcastStatus | None, now: dt.datetime
) -> dict[str, DestinationStatus]:
    found = deliveries(observed)
    return {
        each.name: _status_of(observed, each, found[each.name], observed.delivery(each.name, broadcast), now)
        for each in observed.destinations
    }


def _status_of(
    observed: ObservedProject,
    destination: Destination,
    program: ProgramDestination | DestinationRefusal,
    delivery: DeliveryState,
    now: dt.datetime,
) -> DestinationStatus:
    expired = expired_token(destination, observed.secrets, now)
    status = destination_status(destination, program, delivery, now, expired)
    if observed.rivals_known_in_s:
        return status
    return with_conflict(destination, status, observed.rivals.get(destination.name), now)


def _claim_streams(observed: ObservedProject, step: BroadcastStep) -> Iterator[Action]:
    """Notes what the show publishes, so that it and others that publish the same say so."""
    project = observed.project
    streams = streams_on_air(observed, step.broadcast)
    if streams != observed.streams:
        yield ClaimStreams(project.name, streams)
    if streams and observed.rivals_known_in_s:
        yield Requeue(Key(project.kind, project.name), observed.rivals_known_in_s)


def _write_destination_statuses(
    observed: ObservedProject, statuses: dict[str, DestinationStatus]
) -> Iterator[Action]:
    """The first of them: what is written has the project looked at again, and others are the first then."""
    stale = (d for d in observed.destinations if statuses[d.name] != d.status and not d.deleting)
    for destination in islice(stale, CHILDREN_IN_A_PLAN):
        status = statuses[destination.name]
        yield WriteStatus(destination, status)
        yield from destination_events(destination, status, observed.project)


def _adopt_children(observed: ObservedProject) -> Iterator[Action]:
    """The project becomes its collection's, destinations and layouts become the project's.

    Those that Argo CD manages are nobody's.
    """
    project, collection = observed.project, observed.collection
    if project.deleting:
        return
    if collection:
        yield from follow_owner(project, collection)
    children = (*observed.destinations, *observed.layouts)
    changes = [change for child in children for change in follow_owner(child, project)]
    yield from changes[:CHILDREN_IN_A_PLAN]
    if changes[CHILDREN_IN_A_PLAN:]:
        yield Requeue(Key(project.kind, project.name), 0.0)


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


def _look_again(observed: ObservedProject, step: BroadcastStep, now: dt.datetime) -> Iterator[Action]:
    for each in observed.invalid_destinations:
        yield Requeue(Key(DESTINATION, each.destination.name), 0.0)
    for wait_s in (step.requeue_s, next_token_end_s(observed.destinations, observed.secrets, now)):
        if wait_s is not None:
            yield Requeue(Key(observed.project.kind, observed.project.name), max(0.05, wait_s))
