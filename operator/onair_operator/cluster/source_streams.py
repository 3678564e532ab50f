"""Which source a stream belongs to, and which streams a source may be connected by."""

from __future__ import annotations

from onair_crds.contract.ingest import secret_name, source_of_secret
from onair_crds.contract.ingest_gateway import stream_of_pull
from onair_crds.kube.store import Entry, Store
from onair_operator.cluster.watched_kinds import BY_STREAM, SECRET, SOURCE

PULL_PREFIX = stream_of_pull("")


def source_of(store: Store, stream: str) -> str | None:
    """The name of the source whose key, or whose pull, makes this stream; it may not exist.

    A stream of a key that has been replaced is its source's as long as the status says so.
    """
    if stream.startswith(PULL_PREFIX):
        return stream.removeprefix(PULL_PREFIX)
    for secret in store.select(SECRET, BY_STREAM, stream):
        return source_of_secret(secret.name)
    for source in store.select(SOURCE, BY_STREAM, stream):
        return source.name
    return None


def streams_of(store: Store, source: Entry) -> set[str]:
    """The streams that may be the source's: of its key, of its pull, and the one that it was connected by."""
    pulled = "rtmpPull" in (source.spec.get("address") or {})
    found = {
        source.status.get("stream"),
        key_stream(store, source.name),
        stream_of_pull(source.name) if pulled else None,
    }
    return {str(stream) for stream in found if stream}


def key_stream(store: Store, source: str) -> str | None:
    """The stream of a source's key; None while it has none."""
    secret = store.entry(SECRET, secret_name(source))
    keys = [key for index, key in secret.index_keys if index == BY_STREAM] if secret else []
    return keys[0][0] if keys else None
