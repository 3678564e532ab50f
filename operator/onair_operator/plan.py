"""From the observed world to what is to be done. Pure: no client, no clock, no randomness.

An unchanged world gives an empty plan, so a plan may be made as often as one likes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import BroadcastPhase, ConnectState
from onair_crds.resources.project import BroadcastStatus, ProjectStatus
from onair_operator.actions import (
    Action,
    Adopt,
    AdoptSecret,
    CreatePod,
    DeletePod,
    DeleteSecret,
    Event,
    PushProgram,
    Requeue,
    SetFinalizer,
    WriteDestinationStatus,
    WriteStatus,
)
from onair_operator.broadcast import Step, may_create, next_step
from onair_operator.conditions import project_verdict, with_ready
from onair_operator.delivery import count, destination_status
from onair_operator.observed import Observed
from onair_operator.settings import OperatorSettings
from onair_operator.wanted import digest, wanted_program

UNUSED_SECRET_GRACE = dt.timedelta(seconds=60)


def make_plan(observed: Observed, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """What brings the world nearer to what its resources want. Actions are to be carried out in order."""
    step = next_step(observed, now, settings)
    statuses = {d.name: destination_status(d, observed, step.broadcast, now) for d in observed.destinations}
    return [
        *_hold(observed, step),
        *_tell(observed, step, statuses, now, settings),
        *_encoders(observed, step, now, settings),
        *_destinations(observed, statuses),
        *_owners(observed),
        *_secrets(observed, now),
        *_release(observed, step),
        *([Requeue(max(0.05, step.requeue_s))] if step.requeue_s is not None else []),
    ]


def _on_the_way(broadcast: BroadcastStatus | None) -> bool:
    return broadcast is not None and (broadcast.phase.active or broadcast.phase is BroadcastPhase.STOPPING)


def _hold(observed: Observed, step: Step) -> Iterator[Action]:
    project = observed.project
    held = BROADCAST_FINALIZER in project.finalizers
    if _on_the_way(step.broadcast) and not held and not project.deleting:
        yield SetFinalizer(True)


def _release(observed: Observed, step: Step) -> Iterator[Action]:
    if BROADCAST_FINALIZER in observed.project.finalizers and not _on_the_way(step.broadcast):
        yield SetFinalizer(False)


def _tell(
    observed: Observed,
    step: Step,
    statuses: dict[str, DestinationStatus],
    now: dt.datetime,
    settings: OperatorSettings,
) -> Iterator[Action]:
    project = observed.project
    status = ProjectStatus(
        observed_generation=project.generation,
        conditions=with_ready(
            project.status.conditions,
            project_verdict(observed, step.broadcast, settings),
            project.generation,
            now,
        ),
        broadcast=step.broadcast,
        previous=step.previous,
        destinations=count(statuses, observed.destinations),
    )
    if status != project.status:
        yield WriteStatus(status)
    yield from step.events
    yield from _reason_event(project.status, status)


def _reason_event(before: ProjectStatus, after: ProjectStatus) -> Iterator[Action]:
    """Tells of an obstacle once, when the Ready condition first names it."""
    told = {
        "NoCapacity",
        "ImagePullFailed",
        "ContainerFailed",
        "CompositionUnreachable",
        "CollectionNotFound",
    }
    reason = {c.type: c.reason for c in before.conditions}.get("Ready")
    ready = after.conditions[0]
    if ready.reason != reason and ready.reason in told:
        yield Event(ready.reason, ready.message, warning=True)


def _encoders(
    observed: Observed, step: Step, now: dt.datetime, settings: OperatorSettings
) -> Iterator[Action]:
    broadcast = step.broadcast
    claimed = observed.claimed_pod(broadcast) if broadcast and _on_the_way(broadcast) else None
    if broadcast and broadcast.phase.active and claimed is None and may_create(broadcast, now):
        yield CreatePod(broadcast.id, broadcast.epoch, observed.dead_nodes)
    if broadcast and claimed and claimed.ip and not claimed.gone:
        stop = broadcast.phase is BroadcastPhase.STOPPING
        program = wanted_program(observed, broadcast, settings, stop=stop)
        encoder = observed.encoders.get(claimed.uid)
        if encoder is None or encoder.pushed != digest(program):
            yield PushProgram(claimed.uid, program)
    for pod in observed.pods:
        if pod is not claimed and not pod.deleting:
            yield DeletePod(pod.name, pod.uid)


def _destinations(observed: Observed, statuses: dict[str, DestinationStatus]) -> Iterator[Action]:
    for destination in observed.destinations:
        status = statuses[destination.name]
        if status != destination.status and not destination.deleting:
            yield WriteDestinationStatus(destination.name, destination.resource_version, status)
            yield from _connection_event(destination, status)


def _connection_event(destination: Destination, status: DestinationStatus) -> Iterator[Action]:
    before, after = destination.status, status
    if after.connect is ConnectState.CONNECTED and before.connect is not ConnectState.CONNECTED:
        yield Event("DestinationConnected", f"media flows to destination {destination.name}")
    elif before.connect is ConnectState.CONNECTED and after.connect is not ConnectState.CONNECTED:
        because = f": {after.last_error}" if after.last_error else ""
        yield Event(
            "DestinationDisconnected", f"destination {destination.name}{because}", warning=bool(because)
        )


def _owners(observed: Observed) -> Iterator[Action]:
    project = observed.project
    collection = observed.collection
    if (
        collection
        and not collection.deleting
        and not project.deleting
        and not _owned(project, collection.uid)
    ):
        yield Adopt(project, collection)
    if project.deleting:
        return
    for child in (*observed.destinations, *observed.layouts):
        if not child.deleting and not _owned(child, project.uid):
            yield Adopt(child, project)


def _owned(child: Destination | object, uid: str) -> bool:
    metadata = getattr(child, "metadata", {})
    return any(owner["uid"] == uid for owner in metadata.get("ownerReferences", []))


def _secrets(observed: Observed, now: dt.datetime) -> Iterator[Action]:
    """The facade's Secrets follow the destination that names them; those that none names go."""
    by_name = {d.name: d for d in observed.destinations if not d.deleting}
    for secret in observed.secrets.values():
        destination = by_name.get(secret.destination or "")
        if not secret.allowed or destination is None:
            continue
        if secret.name in referenced_secrets(destination):
            if destination.uid not in secret.owners:
                yield AdoptSecret(secret.name, destination)
        elif now - secret.created > UNUSED_SECRET_GRACE:
            yield DeleteSecret(secret.name, secret.uid)


def referenced_secrets(destination: Destination) -> set[str]:
    """Names of the Secrets that a destination's address refers to."""
    address = destination.spec.address
    references = []
    if address.rtmp_push:
        references += [address.rtmp_push.key_secret_ref, address.rtmp_push.passphrase_secret_ref]
    if address.srt_push:
        references.append(address.srt_push.passphrase_secret_ref)
    if storage := address.object_storage:
        references += [storage.access_key_secret_ref, storage.secret_key_secret_ref, storage.token_secret_ref]
    return {reference.name for reference in references if reference}
