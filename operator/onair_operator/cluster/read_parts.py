"""What plans of children read of a collection, and those of projects of a source: all else is no news.

A service that changes the metadata of its collections had thousands of projects looked at for nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import structlog
from pydantic import ValidationError

from onair_crds.kube.store import Entry
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import SourceStatus
from onair_crds.shapes import Document

log = structlog.get_logger()


class CollectionPart(NamedTuple):
    """What is read of a collection."""

    uid: str
    deleting: bool
    owner: Document | None


class SourcePart(NamedTuple):
    """What is read of a source by the projects that show it."""

    collection: str | None
    deleting: bool
    preview: Document | None
    connect: ConnectState | None
    since: str | None
    unknown: bool | None
    gateway: str | None
    stream: str | None


def collection_part(entry: Entry) -> CollectionPart:
    """What projects and sources of a collection read of it."""
    return CollectionPart(entry.uid, entry.deleting, entry.spec.get("owner"))


def source_part(entry: Entry) -> SourcePart:
    """What projects read of a source that they show."""
    status = source_status_of(entry)
    return SourcePart(
        collection=entry.spec.get("collectionId"),
        deleting=entry.deleting,
        preview=entry.spec.get("preview"),
        connect=status.connect,
        since=status.since,
        unknown=status.unknown,
        gateway=status.gateway,
        stream=status.stream,
    )


def source_status_of(entry: Entry) -> SourceStatus:
    """Unknown where another version of the operator wrote it, so that projects continue without it.

    What projects read of it is to be in `SourcePart`.
    """
    status: SourceStatus | None = entry.records.get(SourceStatus)
    if status is None:
        try:
            status = SourceStatus.model_validate(entry.status)
        except ValidationError as error:
            log.warning("source.invalid", source=entry.name, error=str(error))
            status = SourceStatus(unknown=True)
        entry.records[SourceStatus] = status
    return status
