"""Reads a destination that may be stored against the rules of this version. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from onair_crds.kube.store import Entry
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_operator.specs.broken_rules import broken_rules


@dataclass(frozen=True)
class StoredDestination:
    destination: Destination
    """Without a spec where that breaks a rule."""
    invalid: str | None = None
    """The rules that its spec breaks, as one may that was stored by an older version."""
    enabled: bool = True

    @property
    def wanted(self) -> bool:
        """Whether an encoder that delivers to it is to continue."""
        return self.enabled and not self.destination.deleting


def read_destination(entry: Entry) -> StoredDestination:
    """The destination; its status is empty where it cannot be read, as one of a newer operator may be."""
    try:
        return _valid(entry.model(Destination))
    except ValidationError as error:
        broken = error
    status = _status(entry)
    try:
        return _valid(Destination.model_validate({**entry.document, "status": status.manifest()}))
    except ValidationError as error:
        broken = error
    head = entry.head(Destination).model_copy(update={"status": status})
    return StoredDestination(head, broken_rules(broken), entry.spec.get("enabled") is not False)


def _valid(destination: Destination) -> StoredDestination:
    return StoredDestination(destination, None, destination.spec.enabled)


def _status(entry: Entry) -> DestinationStatus:
    try:
        return DestinationStatus.model_validate(entry.status)
    except ValidationError:
        return DestinationStatus()
