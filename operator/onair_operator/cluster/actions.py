"""The actions of plans: `apply` carries each out in order, and does nothing if it holds already.

Every action names the resource that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onair_crds.contract.ingest_gateway import Pulls
from onair_crds.contract.program import Program
from onair_crds.resources.base import Resource, Status
from onair_crds.resources.project import BroadcastStatus, Project, ProjectStatus
from onair_crds.resources.source import Source
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.queue import Key
from onair_operator.encoder.observed import PodView
from onair_operator.ingest.shown_previews import ShownPreviews
from onair_operator.room.plan import KeptRoom


@dataclass(frozen=True)
class SetFinalizer:
    """Holds back, or releases, the deletion of a resource."""

    resource: Resource
    finalizer: str
    present: bool


@dataclass(frozen=True)
class WriteStatus:
    """Replaces a resource's status, if nobody else changed the resource since it was observed."""

    resource: Resource
    status: Status

    @property
    def only_tells(self) -> bool:
        """Whether nothing that is decided later rests on it: no record of a run changes."""
        before, after = self.resource, self.status
        if not isinstance(before, Project) or not isinstance(after, ProjectStatus):
            return not isinstance(before, Source)
        return _records(before.status) == _records(after)

    @property
    def begins_run(self) -> bool:
        """Whether it is the first record of a run."""
        before, after = self.resource, self.status
        if not isinstance(before, Project) or not isinstance(after, ProjectStatus):
            return False
        return _active(after.broadcast) and not _active(before.status.broadcast)


def _active(broadcast: BroadcastStatus | None) -> bool:
    return broadcast is not None and broadcast.phase.active


def _records(status: ProjectStatus) -> tuple[object, ...]:
    """The part of a project's status that the next decision rests on."""
    room = status.room
    opening = room and (room.opening, room.phase, room.empty_since, room.was_empty)
    runs = (status.broadcast, status.previous, status.draining, status.used)
    return *runs, status.triggers, status.trigger_start, status.trigger_run, opening


@dataclass(frozen=True)
class CreatePod:
    """Creates the encoder pod that the project's status has claimed, with its identity."""

    name: str
    project: Project
    broadcast: str
    epoch: int
    avoid: frozenset[str] = frozenset()
    """Nodes that are dead; the scheduler takes another half minute to see it."""


@dataclass(frozen=True)
class DeletePod:
    """Deletes an encoder pod; it can be reached by its identity until it is gone."""

    name: str
    uid: str
    grace_s: int | None = None


@dataclass(frozen=True)
class FollowEncoder:
    """Keeps the status stream of a project's encoder open from now on, and keeps in touch with it."""

    project: str
    pod: PodView
    certificate_pem: str
    replaced: bool = False
    """Another encoder takes its place: it is told to yield."""
    stopped: bool = False
    """Its run is over: it is told to end its streams."""


@dataclass(frozen=True)
class DropEncoder:
    """Closes the status stream of an encoder."""

    pod_uid: str


@dataclass(frozen=True)
class PushProgram:
    """Has an encoder be handed its programme, in the background, until it has acknowledged it."""

    pod_uid: str
    program: Program


@dataclass(frozen=True)
class Adopt:
    """Adds an owner reference, so that the child is deleted with its owner."""

    child: Resource
    owner: Resource


@dataclass(frozen=True)
class Disown:
    """Takes away the owner references that name resources of ours."""

    child: Resource


@dataclass(frozen=True)
class AdoptSecret:
    """Adds an owner reference to a Secret."""

    name: str
    owner: Resource


@dataclass(frozen=True)
class DeleteSecret:
    """Deletes a Secret."""

    name: str
    uid: str


@dataclass(frozen=True)
class CreateStreamKey:
    """Gives a pushed source a stream key, in a Secret that goes with it."""

    source: Source


@dataclass(frozen=True)
class CutOff:
    """Disconnects the publisher of a stream from a gateway, in the background."""

    gateway: str
    stream: str
    unknown: bool = False
    """No source is known to have the stream: the API server is asked before, as a watch may be late."""


@dataclass(frozen=True)
class WantPulls:
    """Has a gateway pull this and nothing else, in the background."""

    gateway: str
    pulls: Pulls


@dataclass(frozen=True)
class ClaimStreams:
    """Notes what a project publishes; each project that publishes the same is looked at."""

    project: str
    streams: Mapping[str, str] = field(repr=False)
    """Fingerprints by destination."""


@dataclass(frozen=True)
class ShowPreviews:
    """Has gateways show sources in a room, and no others there, in the background."""

    room: str
    shown: ShownPreviews


@dataclass(frozen=True)
class KeepRoom:
    """Has a room be opened, or closed, and watched, in the background; None: not any more."""

    room: str
    wanted: KeptRoom | None


@dataclass(frozen=True)
class MarkNode:
    """Notes that a node is dead, or alive again: no new encoder is placed on a dead one."""

    name: str
    dead: bool


@dataclass(frozen=True)
class DeleteIngestPod:
    """Deletes an ingest pod at once, without the word of its node, so that another one takes its place."""

    pod: LeavingPod


@dataclass(frozen=True)
class ResourceEvent:
    """A Kubernetes Event on a resource."""

    resource: Resource
    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True)
class Requeue:
    """Looks at a key again after this time, even if nothing happens."""

    key: Key
    after_s: float


Action = (
    SetFinalizer
    | WriteStatus
    | CreatePod
    | DeletePod
    | FollowEncoder
    | DropEncoder
    | PushProgram
    | Adopt
    | Disown
    | AdoptSecret
    | DeleteSecret
    | CreateStreamKey
    | CutOff
    | WantPulls
    | ClaimStreams
    | ShowPreviews
    | KeepRoom
    | MarkNode
    | DeleteIngestPod
    | ResourceEvent
    | Requeue
)
