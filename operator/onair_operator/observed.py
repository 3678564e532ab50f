"""One project and all that bears on it, as one value: the input of the plan."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from onair_crds.contract.labels import BROADCAST_LABEL, CREDENTIALS_TYPE, DESTINATION_LABEL, EPOCH_LABEL
from onair_crds.contract.program import EncoderStatus
from onair_crds.contract.times import parse_time
from onair_crds.resources.collection import Collection
from onair_crds.resources.destination import Destination
from onair_crds.resources.layout import Layout
from onair_crds.resources.project import BroadcastStatus, Project
from onair_crds.shapes import Document
from onair_operator.rtc_providers import RtcProvider

_PULL_FAILURES = {"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"}
_START_FAILURES = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}


@dataclass(frozen=True)
class PodView:
    """What matters of an encoder pod."""

    name: str
    uid: str
    broadcast: str
    epoch: int
    phase: str
    deleting: bool
    created: dt.datetime
    node: str | None = None
    ip: str | None = None
    unschedulable: str | None = None
    """The scheduler's words why no node takes the pod."""
    failure: tuple[str, str] | None = None
    """Reason and message why a container cannot start."""

    @property
    def gone(self) -> bool:
        """It delivers nothing any more and never will."""
        return self.deleting or self.phase in ("Failed", "Succeeded")

    @classmethod
    def of(cls, document: Document) -> PodView:
        metadata, spec, status = document["metadata"], document.get("spec", {}), document.get("status", {})
        labels = metadata.get("labels", {})
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            broadcast=labels.get(BROADCAST_LABEL, ""),
            epoch=int(labels.get(EPOCH_LABEL, "0")),
            phase=status.get("phase", "Pending"),
            deleting="deletionTimestamp" in metadata,
            created=parse_time(metadata["creationTimestamp"]),
            node=spec.get("nodeName"),
            ip=status.get("podIP"),
            unschedulable=_unschedulable(status),
            failure=_failure(status),
        )


def _unschedulable(status: Document) -> str | None:
    for condition in status.get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason"))
    return None


def _failure(status: Document) -> tuple[str, str] | None:
    for container in status.get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting") or {}
        reason, message = waiting.get("reason", ""), waiting.get("message", "")
        if reason in _PULL_FAILURES:
            return "ImagePullFailed", f"{container['image']}: {message or reason}"
        if reason in _START_FAILURES:
            return "ContainerFailed", f"container {container['name']}: {message or reason}"
        if reason == "CrashLoopBackOff":
            return "ContainerFailed", f"container {container['name']} ends again and again; see its log"
    return None


@dataclass(frozen=True)
class SecretView:
    """A Secret that a show may refer to. Its values are decoded on demand and never printed."""

    name: str
    uid: str
    type: str
    created: dt.datetime
    owners: tuple[str, ...] = ()
    destination: str | None = None
    data: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def allowed(self) -> bool:
        return self.type == CREDENTIALS_TYPE

    def value(self, key: str) -> str | None:
        encoded = self.data.get(key)
        return None if encoded is None else base64.b64decode(encoded).decode(errors="replace")

    @classmethod
    def of(cls, document: Document) -> SecretView:
        metadata = document["metadata"]
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            type=document.get("type", "Opaque"),
            created=parse_time(metadata["creationTimestamp"]),
            owners=tuple(owner["uid"] for owner in metadata.get("ownerReferences", [])),
            destination=metadata.get("labels", {}).get(DESTINATION_LABEL),
            data=document.get("data") or {},
        )


@dataclass(frozen=True)
class NodeView:
    region: str | None
    zone: str | None


@dataclass(frozen=True)
class EncoderView:
    """The last word of an encoder, and whether it still speaks."""

    pod_uid: str
    connected: bool
    status: EncoderStatus | None
    pushed: str | None = None
    """Digest of the programme that the encoder has acknowledged."""


@dataclass(frozen=True)
class Observed:
    project: Project
    collection: Collection | None = None
    destinations: tuple[Destination, ...] = ()
    layouts: tuple[Layout, ...] = ()
    pods: tuple[PodView, ...] = ()
    secrets: Mapping[str, SecretView] = field(default_factory=dict)
    nodes: Mapping[str, NodeView] = field(default_factory=dict)
    encoders: Mapping[str, EncoderView] = field(default_factory=dict)
    """By pod uid."""
    dead_nodes: frozenset[str] = frozenset()
    """Nodes whose Lease has not been renewed while most others' were."""
    rtc_providers: Mapping[str, RtcProvider] = field(default_factory=dict)
    """By `appId`."""

    @property
    def broadcast(self) -> BroadcastStatus | None:
        return self.project.status.broadcast

    def claimed_pod(self, broadcast: BroadcastStatus) -> PodView | None:
        """The pod of this run and epoch: by uid once that is known, else by its name."""
        for pod in self.pods:
            if broadcast.encoder:
                if pod.uid == broadcast.encoder:
                    return pod
            elif pod.name == broadcast.pod:
                return pod
        return None

    def encoder_of(self, broadcast: BroadcastStatus) -> EncoderView | None:
        """The encoder of this run's present epoch, once it was heard."""
        view = self.encoders.get(broadcast.encoder or "")
        if view and view.status and view.status.epoch > broadcast.epoch:
            return None
        return view
