"""The Events of a source: that it connects, what arrives, that it does not. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from onair_crds.resources.enums import ConnectState
from onair_crds.resources.source import Source, SourceStatus
from onair_operator.cluster.actions import Event
from onair_operator.ingest.observed import Sighting

SENDERS = {"rtmp": "RTMP publisher", "rtmps": "RTMPS publisher", "srt": "SRT publisher", "pull": "pulled"}


def source_events(source: Source, status: SourceStatus, present: Sighting | None) -> Iterator[Event]:
    """What the next status is news of; `present` is the publisher that it speaks of."""
    before, after = source.status.connect, status.connect
    media = status.media.summary if status.media else None
    if after is ConnectState.CONNECTED and before is not ConnectState.CONNECTED and present:
        sender = SENDERS[present.state.protocol]
        yield Event(source, "Connected", f"{sender}: {media}" if media else sender)
    elif after is ConnectState.CONNECTED:
        if media and media != (source.status.media.summary if source.status.media else None):
            yield Event(source, "MediaChanged", media)
    elif before is ConnectState.CONNECTED:
        yield Event(source, "Disconnected", status.last_error or "the stream has ended")
    elif status.last_error != source.status.last_error and source.pushed is None and status.last_error:
        yield Event(source, "NotConnected", status.last_error, warning=True)
    if status.replaced_key and not source.status.replaced_key:
        yield Event(source, "KeyReplaced", "it stays connected by its former key until it disconnects")
