"""Addresses that the service assigns to pushed sources. Pure.

A function of only the source, its stream key and the ingest configuration, so
that the facade can respond to a creation with it, and the operator can write the
same into status, for manifests too. Addresses that no value gives are found by the
operator and kept in a ConfigMap, which the facade follows.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.contract.wire_model import WireModel
from onair_crds.resources.base import MAX_TEXT, MAX_URL
from onair_crds.resources.source import SourceAddress
from onair_crds.shapes import Document

SECRET_PREFIX = "source-"  # noqa: S105 - the beginning of a name
STREAM_KEY = "streamKey"
"""Key within a source's Secret. One key serves both protocols, so a source keeps it when it changes them."""


ADDRESSES_CONFIG_MAP = "onair-ingest-addresses"
"""ConfigMap of the release's namespace that the operator writes: where publishers reach ingest."""
ADDRESSES_KEY = "addresses.json"
"""Its key, with `FoundAddresses` as JSON."""
APPLICATION = "live"
"""What publishers by RTMP call the application."""

Protocol = Literal["rtmp", "rtmps", "srt"]


class IngestEndpoint(WireModel):
    """One address that publishers reach ingest at."""

    protocol: Protocol
    region: Annotated[str, Field(max_length=253)] = ""
    """Whose ingest pods it leads to; empty: those of all."""
    base_url: Annotated[str, Field(max_length=MAX_URL)]


class FoundAddresses(WireModel):
    """What was found of the Services of ingest, those of the default region first."""

    endpoints: list[IngestEndpoint] = []
    missing: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    """Why a Service has no address; empty if all have one."""


@dataclass(frozen=True)
class Ingest:
    """Where sources are pushed to. A base URL is None while it is not known."""

    rtmp_base_url: str | None
    """Server and application, such as `rtmp://ingest.example.org/live`."""
    srt_base_url: str | None
    """Listener, such as `srt://ingest.example.org:8890`; a query such as `?latency=200` is kept."""
    endpoints: tuple[IngestEndpoint, ...] = ()
    """All that were found, where they were."""

    def with_values(self, rtmp: str, srt: str) -> Ingest:
        """The same, where no value gives an address."""
        given = {"rtmp": rtmp, "rtmps": rtmp, "srt": srt}
        others = tuple(each for each in self.endpoints if not given[each.protocol])
        return Ingest(rtmp or self.rtmp_base_url, srt or self.srt_base_url, others)


@dataclass(frozen=True)
class AssignedPush:
    """Where one source pushes to. `stream` and `url` are secrets, and None while no key is assigned."""

    base_url: str | None
    """None while no address is known."""
    stream: str | None
    """The RTMP stream key or the SRT stream id."""
    url: str | None
    endpoints: tuple[IngestEndpoint, ...] = ()
    """All that serve, if there are several."""


def cluster_ingest(namespace: str) -> Ingest:
    """The ingest service within the cluster."""
    host = f"onair-ingest.{namespace}.svc"
    return Ingest(f"rtmp://{host}:1935/{APPLICATION}", f"srt://{host}:8890")


def found_ingest(found: FoundAddresses | None) -> Ingest:
    """What was found, the first address of each protocol before others; None: nothing yet."""
    endpoints = tuple(found.endpoints) if found else ()
    first = {each.protocol: each.base_url for each in reversed(endpoints)}
    return Ingest(first.get("rtmp") or first.get("rtmps"), first.get("srt"), endpoints)


def addresses_in(config_map: Document) -> FoundAddresses | None:
    """The addresses in the ConfigMap; None if it holds none that this version reads."""
    try:
        return FoundAddresses.model_validate_json((config_map.get("data") or {})[ADDRESSES_KEY])
    except (KeyError, TypeError, ValidationError):
        return None


def secret_name(source_id: str) -> str:
    """The Secret, of type `onair.dev/credentials`, that holds a source's stream key."""
    return f"{SECRET_PREFIX}{source_id}"


def source_of_secret(name: str) -> str | None:
    """The source whose stream key a Secret of this name holds; None if it is another's."""
    return name.removeprefix(SECRET_PREFIX) if name.startswith(SECRET_PREFIX) else None


def stream_of_secret(secret: Document) -> str | None:
    """The stream of the key that a Secret holds; None if it is no source's, or holds no key."""
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
        base = ingest.rtmp_base_url.rstrip("/") if ingest.rtmp_base_url else None
        url = f"{base}/{stream_key}" if base and stream_key else None
        return AssignedPush(base, stream_key, url, _several(ingest, "rtmp", "rtmps"))
    if address.srt_push:
        base = ingest.srt_base_url
        stream_id = f"publish:{stream_key}" if stream_key else None
        joint = "&" if base and "?" in base else "?"
        url = f"{base}{joint}streamid={stream_id}" if base and stream_id else None
        return AssignedPush(base, stream_id, url, _several(ingest, "srt"))
    return None


def _several(ingest: Ingest, *protocols: Protocol) -> tuple[IngestEndpoint, ...]:
    found = tuple(each for each in ingest.endpoints if each.protocol in protocols)
    return found if len(found) > 1 else ()


def is_enabled(spec: Document) -> bool:
    """Whether a source, pushed or pulled, is received; also one that was stored under other rules."""
    address = spec.get("address")
    pushed = [address.get(each) for each in ("rtmpPush", "srtPush")] if isinstance(address, dict) else []
    return not any(isinstance(each, dict) and each.get("enabled") is False for each in pushed)
