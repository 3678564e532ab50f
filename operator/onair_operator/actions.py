"""What a plan may ask for: `apply` carries each out in order, and does nothing where it holds already."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.program import Program
from onair_crds.resources.base import Resource
from onair_crds.resources.destination import DestinationStatus
from onair_crds.resources.project import ProjectStatus


@dataclass(frozen=True)
class SetFinalizer:
    """Holds back, or lets go, the deletion of a project that is on air."""

    present: bool


@dataclass(frozen=True)
class WriteStatus:
    """Replaces the project's status, if nobody changed the project since it was observed."""

    status: ProjectStatus


@dataclass(frozen=True)
class CreatePod:
    """Creates the encoder pod that the status has claimed, with its identity."""

    broadcast: str
    epoch: int
    avoid: frozenset[str] = frozenset()
    """Nodes that are dead; the scheduler takes another half minute to see it."""


@dataclass(frozen=True)
class DeletePod:
    name: str
    uid: str
    grace_s: int | None = None


@dataclass(frozen=True)
class PushProgram:
    """Hands an encoder its programme, unless it has acknowledged it already."""

    pod_uid: str
    program: Program


@dataclass(frozen=True)
class WriteDestinationStatus:
    name: str
    resource_version: str
    status: DestinationStatus


@dataclass(frozen=True)
class Adopt:
    """Adds an owner reference, so that the child goes with its owner."""

    child: Resource
    owner: Resource


@dataclass(frozen=True)
class AdoptSecret:
    name: str
    owner: Resource


@dataclass(frozen=True)
class DeleteSecret:
    name: str
    uid: str


@dataclass(frozen=True)
class Event:
    """A Kubernetes Event on the project."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True)
class Requeue:
    """Look again after this time, even if nothing happens."""

    after_s: float


Action = (
    SetFinalizer
    | WriteStatus
    | CreatePod
    | DeletePod
    | PushProgram
    | WriteDestinationStatus
    | Adopt
    | AdoptSecret
    | DeleteSecret
    | Event
    | Requeue
)
