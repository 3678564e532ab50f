"""Addresses that the service assigns to pushed sources. Pure.

A function of the source, its stream key and the ingest configuration alone, so
that the facade can respond to a creation with it, and the operator can write the
same into status, for manifests too.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.resources.source import SourceAddress
from onair_crds.shapes import Document

SECRET_PREFIX = "source-"  # noqa: S105 - the beginning of a name
STREAM_KEY = "streamKey"
"""Key within a source's Secret. One key serves both protocols, so a source keeps it when it changes them."""


@dataclass(frozen=True)
class Ingest:
    """Where sources are pushed to."""

    rtmp_base_url: str
    """Server and application, such as `rtmp://ingest.example.org/live`."""
    srt_base_url: str
    """Listener, such as `srt://ingest.example.org:8890`; a query such as `?latency=200` is kept."""


@dataclass(frozen=True)
class AssignedPush:
    """Where one source pushes to. `stream` and `url` are secrets, and None while no key is assigned."""

    base_url: str
    stream: str | None
    """The RTMP stream key or the SRT stream id."""
    url: str | None


def cluster_ingest(namespace: str) -> Ingest:
    """The ingest service within the cluster."""
    host = f"onair-ingest.{namespace}.svc"
    return Ingest(f"rtmp://{host}:1935/live", f"srt://{host}:8890")


def secret_name(source_id: str) -> str:
    """The Secret, of type `onair.dev/credentials`, that holds a source's stream key."""
    return f"{SECRET_PREFIX}{source_id}"


def source_of_secret(name: str) -> str | None:
    """The source whose stream key a Secret of this name holds; None where it is another's."""
    return name.removeprefix(SECRET_PREFIX) if name.startswith(SECRET_PREFIX) else None


def stream_of_secret(secret: Document) -> str | None:
    """The stream of the key that a Secret holds; None where it is no source's, or holds no key."""
    encoded = (secret.get("data") or {}).get(STREAM_KEY)
    if secret.get("type") != CREDENTIALS_TYPE or source_of_secret(secret["metadata"]["name"]) is None:
        return None
    try:
        key = base64.b64decode(encoded).decode() if encoded else ""
    except (TypeError, ValueError, binascii.Error):
        return None
    return stream_of_key(key) if key else None


def assigned_push(address: SourceAddress, stream_key: str | None, ingest: Ingest) -> AssignedPush | None:
    """The assigned address of a source; None for one that the service pulls."""
    if address.rtmp_push:
        base = ingest.rtmp_base_url.rstrip("/")
        return AssignedPush(base, stream_key, f"{base}/{stream_key}" if stream_key else None)
    if address.srt_push:
        base = ingest.srt_base_url
        stream_id = f"publish:{stream_key}" if stream_key else None
        joint = "&" if "?" in base else "?"
        return AssignedPush(base, stream_id, f"{base}{joint}streamid={stream_id}" if stream_id else None)
    return None
