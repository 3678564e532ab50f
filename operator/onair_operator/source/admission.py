"""Whether a publisher may stay connected as a source. Pure."""

from __future__ import annotations

from onair_crds.contract.ingest_gateway import StreamState
from onair_crds.resources.source import Source


def may_stay(source: Source, state: StreamState) -> bool:
    """Whether a source takes what comes by this protocol."""
    if source.deleting or not source.enabled:
        return False
    address = source.spec.address
    match state.protocol:
        case "rtmp" | "rtmps":
            return address.rtmp_push is not None
        case "srt":
            return address.srt_push is not None
        case _:
            return address.rtmp_pull is not None
