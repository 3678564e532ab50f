"""The Events of a destination: that it connects, that it does not, and what prevents it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from onair_crds.resources.destination import Destination, DestinationStatus
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.project import Project
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.destination.conflict import CONFLICTED
from onair_operator.specs.ready import READY

PASSING = {"Connected", "Disconnected", "Disabled", "NotRunning"}
"""Reasons of Ready that are no obstacle: connections have Events of their own."""


def destination_events(
    destination: Destination, status: DestinationStatus, project: Project | None
) -> Iterator[ResourceEvent]:
    """What the next status is news of, on the destination and, of connections, on its project."""
    before, after = destination.status.connect, status.connect
    error = status.last_error
    if after is ConnectState.CONNECTED and before is not ConnectState.CONNECTED:
        yield ResourceEvent(destination, "Connected", "media flows")
        if project:
            yield ResourceEvent(
                project, "DestinationConnected", f"media flows to destination {destination.name}"
            )
    elif before is ConnectState.CONNECTED and after is not ConnectState.CONNECTED:
        yield ResourceEvent(destination, "Disconnected", error or "the stream has ended", warning=bool(error))
        if project:
            text = f"destination {destination.name}{f': {error}' if error else ''}"
            yield ResourceEvent(project, "DestinationDisconnected", text, warning=bool(error))
    elif error and _reason(status) == "Disconnected" and error != destination.status.last_error:
        yield ResourceEvent(destination, "NotConnected", error, warning=True)
    yield from _obstacle(destination, status)
    known = {each.type for each in destination.status.conditions}
    for each in status.conditions:
        if each.type == CONFLICTED and CONFLICTED not in known:
            yield ResourceEvent(destination, each.reason, each.message, warning=True)


def _obstacle(destination: Destination, status: DestinationStatus) -> Iterator[ResourceEvent]:
    reason = _reason(status)
    if reason and reason not in PASSING and reason != _reason(destination.status):
        yield ResourceEvent(destination, reason, status.conditions[0].message, warning=True)


def _reason(status: DestinationStatus) -> str | None:
    return next((each.reason for each in status.conditions if each.type == READY), None)
