"""The Events of a source: that it connects, what arrives, that it does not. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from onair_crds.contract.ingest_gateway import Heartbeat, RefusedPublisher
from onair_crds.kube.store import Store
from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import Source, SourceStatus
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.source_streams import source_of
from onair_operator.cluster.watched_kinds import SOURCE
from onair_operator.ingest.observed import Sighting
from onair_operator.source.media import described
from onair_operator.source.status import cause_of

SENDERS = {"rtmp": "RTMP publisher", "rtmps": "RTMPS publisher", "srt": "SRT publisher", "pull": "pulled"}
REFUSED = {
    "InUse": "a second publisher tried the key of {}",
    "Disabled": "a publisher tried the key of {}, which is disabled,",
    "WrongProtocol": "a publisher tried the key of {} by another protocol than its own,",
}


def source_events(source: Source, status: SourceStatus, present: Sighting | None) -> Iterator[ResourceEvent]:
    """What the next status is news of; `present` is the publisher that it speaks of."""
    before, after = source.status.connect, status.connect
    cause = cause_of(status.last_error or "")
    if after is ConnectState.CONNECTED and present:
        arrives = described(status.media, present.state.video) if status.media else ""
        if before is not ConnectState.CONNECTED:
            sender = SENDERS[present.state.protocol] + _from(present.state.publisher)
            yield ResourceEvent(source, "SourceConnected", f"{sender}: {arrives}" if arrives else sender)
        elif status.media and status.media.summary != (source.status.media and source.status.media.summary):
            yield ResourceEvent(source, "MediaChanged", arrives)
        if cause and cause != source.status.last_error:
            yield ResourceEvent(source, "NotDecodable", cause, warning=True)
    elif before is ConnectState.CONNECTED and after is not before:
        yield ResourceEvent(source, "SourceDisconnected", cause or "the stream has ended")
    elif source.pushed is None and cause and cause != cause_of(source.status.last_error or ""):
        yield ResourceEvent(source, "NotConnected", cause, warning=True)
    if status.replaced_key and not source.status.replaced_key:
        yield ResourceEvent(
            source, "KeyReplaced", "it stays connected with its former key until it disconnects"
        )


PREVIEW_WAITS = (
    "its preview waits until another one ends: its ingest pod shows as many as ingest.previews.most allows"
)


def heartbeat_events(store: Store, heartbeat: Heartbeat) -> Iterator[ResourceEvent]:
    """What a gateway reports of sources besides their streams."""
    for publisher in heartbeat.refused:
        if event := refused_event(store, publisher):
            yield event
    for stream in heartbeat.waiting:
        if source := _source(store, stream):
            yield ResourceEvent(source, "PreviewWaits", PREVIEW_WAITS, warning=True)


def refused_event(store: Store, refused: RefusedPublisher) -> ResourceEvent | None:
    """That somebody was refused who shows a source's key; None if there is no such source."""
    source = _source(store, refused.stream)
    if source is None:
        return None
    message = (REFUSED[refused.reason].format(source.name) + _from(refused.publisher)).rstrip(",")
    return ResourceEvent(source, "PublisherRefused", message, warning=True)


def _source(store: Store, stream: str) -> Source | None:
    name = source_of(store, stream)
    entry = store.entry(SOURCE, name) if name else None
    return entry.head(Source) if entry else None


def _from(address: str | None) -> str:
    return f" from {address}" if address else ""
