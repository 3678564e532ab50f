"""Reads a source that may be stored against the rules of this version. Pure."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from onair_crds.contract.ingest import is_enabled
from onair_crds.kube.store import Entry
from onair_crds.resources.source import (
    PulledSource,
    PushedSource,
    Source,
    SourceAddress,
    SourceSpec,
    SourceStatus,
)
from onair_crds.shapes import Document
from onair_operator.specs.broken_rules import broken_rules


def read_source(entry: Entry) -> tuple[Source, str | None]:
    """The source, and the rules that its spec breaks, as one may that was stored by an older version.

    Of one that breaks a rule there are the collection, how it comes to the service, and whether it is
    enabled: so its state is told and its publishers are ended as those of others. Of a status there is what
    can be read.
    """
    try:
        return entry.model(Source), None
    except ValidationError as error:
        broken = error
    status = _status(entry)
    try:
        return Source.model_validate({**entry.document, "status": status.manifest()}), None
    except ValidationError as error:
        broken = error
    spec = SourceSpec.model_construct(
        collection_id=str(entry.spec.get("collectionId") or ""), address=_address(entry.spec)
    )
    source = Source.model_construct(metadata=entry.metadata, spec=spec, status=status)
    return source, broken_rules(broken)


def _status(entry: Entry) -> SourceStatus:
    """What of a status can be read, as of a newer operator: it says where the source is."""
    readable = {name: value for name, value in entry.status.items() if _is_readable(name, value)}
    status = SourceStatus.model_validate(readable)
    return status if status.connect else status.model_copy(update={"unknown": True})


def _is_readable(name: str, value: Any) -> bool:
    try:
        SourceStatus.model_validate({name: value})
    except ValidationError:
        return False
    return True


def _address(spec: Document) -> SourceAddress:
    stored = spec.get("address")
    given = stored if isinstance(stored, dict) else {}
    pushed = PushedSource(enabled=None if is_enabled(spec) else False)
    return SourceAddress.model_construct(
        rtmp_push=pushed if given.get("rtmpPush") is not None else None,
        srt_push=pushed if given.get("srtPush") is not None else None,
        rtmp_pull=PulledSource.model_construct(url="") if given.get("rtmpPull") is not None else None,
    )
