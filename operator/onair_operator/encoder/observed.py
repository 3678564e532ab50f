"""One encoder as it is known: its pod, and its own last status."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from onair_crds.contract.labels import BROADCAST_LABEL, EPOCH_LABEL
from onair_crds.contract.program import EncoderStatus
from onair_crds.contract.times import parse_time
from onair_crds.resources.base import MAX_TEXT
from onair_crds.shapes import Document

_PULL_FAILURES = {"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"}
_START_FAILURES = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
_PAUSE = re.compile(r"^back-off (?:(?P<minutes>\d+)m)?(?P<seconds>\d+)s restarting")
FIRST_PAUSE_S = 10
"""Of a container that crashed; 20 s, 40 s … follow: those before a pause make up that, less the first."""
UNREACHABLE_AFTER_S = 5.0
"""An encoder that has reported nothing since it has been followed so long is taken to be unreachable."""


@dataclass(frozen=True)
class PodView:
    """The part of an encoder pod that decisions need."""

    name: str
    uid: str
    broadcast: str
    epoch: int
    phase: str
    deleting: bool
    created: dt.datetime
    gone_by: dt.datetime | None = None
    """When one that is being deleted has ended at the latest, if its node hears of that."""
    node: str | None = None
    ip: str | None = None
    unschedulable: str | None = None
    """The scheduler's message why no node takes the pod."""
    failure: tuple[str, str] | None = None
    """Reason and message why a container cannot start."""
    failing_since: dt.datetime | None = None
    """From when its containers have not been ready; with `failure`."""
    placed_since: dt.datetime | None = None
    """From when its node has been to set it up, while it has no address and none of its containers has run.

    The kubelet reports the address after it has pulled the first image.
    """

    ended: str | None = None
    """Why its node refused or ended it, in the kubelet's words."""
    scheduled: dt.datetime | None = None
    """When a node was found for it."""
    running_since: dt.datetime | None = None
    """When the last of its containers started; None unless all of them run."""

    @property
    def over(self) -> bool:
        """Whether its containers have ended for good."""
        return self.phase in ("Failed", "Succeeded")

    @property
    def gone(self) -> bool:
        """Whether it is to be replaced: it delivers nothing any more, or will not for long."""
        return self.deleting or self.over

    @classmethod
    def of(cls, document: Document) -> PodView:
        metadata, spec, status = document["metadata"], document.get("spec", {}), document.get("status", {})
        labels = metadata.get("labels", {})
        created, failure = parse_time(metadata["creationTimestamp"]), _failure(status)
        gone_by = metadata.get("deletionTimestamp")
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            broadcast=labels.get(BROADCAST_LABEL, ""),
            epoch=_epoch(labels.get(EPOCH_LABEL)),
            phase=status.get("phase", "Pending"),
            deleting="deletionTimestamp" in metadata,
            created=created,
            gone_by=parse_time(gone_by) if gone_by else None,
            node=spec.get("nodeName"),
            ip=status.get("podIP"),
            unschedulable=_unschedulable(status),
            failure=failure,
            failing_since=_failing_since(status, created) if failure else None,
            placed_since=_placed_since(spec, status, created),
            ended=_ended(status),
            scheduled=_scheduled(status),
            running_since=_running_since(status),
        )


def _epoch(label: str | None) -> int:
    """0 where a pod has none: labels are whatever somebody has written."""
    return int(label) if label and label.isascii() and label.isdecimal() else 0


def _placed_since(spec: Document, status: Document, created: dt.datetime) -> dt.datetime | None:
    if not spec.get("nodeName") or status.get("podIP") or any(map(_has_run, _containers(status))):
        return None
    return _scheduled(status) or created


def _ended(status: Document) -> str | None:
    if status.get("phase") != "Failed":
        return None
    return ": ".join(text for key in ("reason", "message") if (text := status.get(key)))[:MAX_TEXT] or None


def _scheduled(status: Document) -> dt.datetime | None:
    for condition in status.get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "True":
            since = condition.get("lastTransitionTime")
            return parse_time(since) if since else None
    return None


def _running_since(status: Document) -> dt.datetime | None:
    states = [container.get("state", {}) for container in status.get("containerStatuses", [])]
    started = [str((state.get("running") or {}).get("startedAt") or "") for state in states]
    return max(map(parse_time, started)) if started and all(started) else None


def _has_run(container: Document) -> bool:
    state = container.get("state", {})
    return "running" in state or "terminated" in state or bool(container.get("lastState"))


def _unschedulable(status: Document) -> str | None:
    for condition in status.get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message") or condition.get("reason"))
    return None


def _containers(status: Document) -> list[Document]:
    """Those that come first, first: while one of them fails the others only wait."""
    return [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]


def _unready_since(status: Document) -> dt.datetime | None:
    for condition in status.get("conditions", []):
        if condition["type"] == "ContainersReady" and condition["status"] == "False":
            since = condition.get("lastTransitionTime")
            return parse_time(since) if since else None
    return None


def _failing_since(status: Document, created: dt.datetime) -> dt.datetime:
    """Since when the pod has not been ready for more than the moments between two crashes."""
    loops = [since for each in _containers(status) if (since := _looping_since(each))]
    return min([_unready_since(status) or created, *loops])


def _looping_since(container: Document) -> dt.datetime | None:
    """The end of its last run, less the pauses before that; the kubelet doubles them and forgets old ones."""
    waiting = container.get("state", {}).get("waiting") or {}
    ended = (container.get("lastState", {}).get("terminated") or {}).get("finishedAt")
    pause = _PAUSE.search(waiting.get("message", "")) if waiting.get("reason") == "CrashLoopBackOff" else None
    if ended is None or pause is None:
        return None
    pause_s = 60 * int(pause["minutes"] or 0) + int(pause["seconds"])
    return parse_time(ended) - dt.timedelta(seconds=max(0, pause_s - FIRST_PAUSE_S))


def _failure(status: Document) -> tuple[str, str] | None:
    for container in _containers(status):
        waiting = container.get("state", {}).get("waiting") or {}
        reason, message = waiting.get("reason", ""), waiting.get("message", "")
        if reason in _PULL_FAILURES:
            return "ImagePullFailed", f"{container['image']}: {message or reason}"
        if reason in _START_FAILURES:
            return "ContainerFailed", f"container {container['name']}: {message or reason}"
        if reason == "CrashLoopBackOff":
            return "ContainerFailed", f"container {container['name']} keeps ending; see its log"
    return None


@dataclass(frozen=True)
class EncoderView:
    """The last status of an encoder that is followed, and whether its stream is still open."""

    pod_uid: str
    connected: bool
    status: EncoderStatus | None
    pushed: str | None = None
    """Digest of the programme that is wanted of the encoder, once it has acknowledged it."""
    ip: str | None = None
    """The address that it is followed at."""
    refused: str | None = None
    """Why it does not take the programme that is wanted."""
    replaced: bool = False
    """Whether it is told that another encoder takes its place."""
    stopped: bool = False
    """Whether it is told that its run is over, besides by its programme."""
    yielded: bool = False
    """Whether it has closed its streams for the other one, and confirmed it."""
    silent_s: float = 0.0
    """Seconds since its stream ended, or since it has been followed; 0 where it is connected."""

    @property
    def awaited(self) -> bool:
        """Whether it has not reported yet, and has not had the time to."""
        return self.status is None and self.silent_s < UNREACHABLE_AFTER_S

    @property
    def yielded_place(self) -> bool:
        """Whether another encoder has taken its place, and its streams are closed."""
        return self.yielded or (self.status is not None and self.status.phase == "yielded")

    @property
    def over(self) -> bool:
        """Whether it publishes nothing any more and never will."""
        return self.yielded_place or (self.status is not None and self.status.phase == "finished")


def reported(status: EncoderStatus) -> object:
    """The part of it that a resource's status reports."""
    return (
        status.phase,
        status.broadcast,
        status.epoch,
        status.first_frame,
        status.composition_error,
        status.on_slate,
        status.encode_error,
        status.error,
        status.failed_layers,
        [(d.id, d.connect, d.since, d.last_error, d.missing_s) for d in status.destinations],
    )
