"""The kinds that the operator watches, and by what their objects are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onair_crds.contract.ingest import stream_of_secret
from onair_crds.contract.labels import (
    API_KEY_TYPE,
    DESTINATION_LABEL,
    GUEST_CODE_TYPE,
    PROJECT_LABEL,
    REVOKED_TOKEN_TYPE,
    SOURCE_LABEL,
)
from onair_crds.contract.rooms import room_name
from onair_crds.kube.apis import CUSTOM, NODES, PODS, SECRETS, Api
from onair_crds.kube.store import Index, IndexKey, Kinds, Trim
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import Document
from onair_operator.cluster.layout_content import compressed

COLLECTION = "Collection"
PROJECT = "Project"
SOURCE = "Source"
DESTINATION = "Destination"
LAYOUT = "Layout"
POD = "Pod"
SECRET = "Secret"  # noqa: S105 - the name of a kind
NODE = "Node"
GATEWAY = "Gateway"
"""Kind of the keys of ingest gateways: no object of the API server."""
STREAM = "Stream"
"""Kind of the keys of streams that gateways report."""

WATCHED: dict[str, Api] = {**CUSTOM, POD: PODS, SECRET: SECRETS, NODE: NODES}

FIELD_SELECTORS = {
    SECRET: ",".join(
        f"type!={each}" for each in (GUEST_CODE_TYPE, REVOKED_TOKEN_TYPE, API_KEY_TYPE, "helm.sh/release.v1")
    )
}
"""Which objects of a kind are watched: Secrets of these types are many or large, and of no use to a show."""

METADATA_ONLY = {NODE}
"""Kinds of which no more is looked at: a Node is large, mostly by the list of its images."""

LARGE = {LAYOUT}
"""Kinds whose objects are listed again only if a list of their metadata is not as known."""

BY_WATCH_ALONE = {LAYOUT}
"""Kinds of which the operator may not read one object."""

MADE_FOR = {DESTINATION_LABEL: DESTINATION, SOURCE_LABEL: SOURCE}
"""By the label of a Secret that the facade made: the kind of the resource that it was made for."""

ACTIVE_PHASES = {each.value for each in BroadcastPhase if each.active}

BY_COLLECTION = "collection"
BY_PROJECT = "project"
BY_SECRET = "secret"  # noqa: S105 - the name of an index
"""Destinations by the Secrets that their address refers to."""
BY_DESTINATION = "destination"
"""Secrets by the destination that they were made for."""
BY_SOURCE = "source"
"""Secrets by the source that they were made for."""
BY_STREAM = "stream"
"""Secrets by the stream of the key that they hold, sources by the stream that they were connected by last."""
BY_GATEWAY = "gateway"
"""Sources by the gateway in their status."""
PULLED = "pulled"
"""Sources that are pulled, under the empty key."""
BY_SHOWN = "shown"
"""Projects by their sources: pages show them, and some start or stop the broadcast."""
ON_AIR = "on air"
"""Projects of which a run waits, starts or runs, under the empty key."""
BY_NODE = "node"
"""Pods by the node that they are on; those without one under the empty name."""
BY_ROOM = "room"
"""Projects by the name of the room that each has, or may have."""


def _spec(field: str) -> Index:
    def index(document: Document) -> list[IndexKey]:
        value = (document.get("spec") or {}).get(field)
        return [(str(value),)] if value else []

    return index


def _label(label: str) -> Index:
    def index(document: Document) -> list[IndexKey]:
        value = (document["metadata"].get("labels") or {}).get(label)
        return [(value,)] if value else []

    return index


def secrets_of(document: Document) -> set[str]:
    """Names of the Secrets that a resource refers to."""
    return set(_references(document.get("spec") or {}))


def _secrets(document: Document) -> set[IndexKey]:
    return {(name,) for name in secrets_of(document)}


def _stream(secret: Document) -> list[IndexKey]:
    stream = stream_of_secret(secret)
    return [(stream,)] if stream else []


def _status(field: str) -> Index:
    def index(document: Document) -> list[IndexKey]:
        value = (document.get("status") or {}).get(field)
        return [(value,)] if value else []

    return index


def _metadata(document: Document) -> Document:
    return {"metadata": document["metadata"]}


def _without_own_metadata(document: Document) -> Document:
    """A resource without what its owner keeps in `spec.metadata`."""
    spec = document.get("spec")
    if not isinstance(spec, dict) or "metadata" not in spec:
        return document
    return {**document, "spec": {name: part for name, part in spec.items() if name != "metadata"}}


TRIMS: Mapping[str, Trim] = {
    **dict.fromkeys((COLLECTION, PROJECT, SOURCE, DESTINATION), _without_own_metadata),
    LAYOUT: compressed,
    **dict.fromkeys(METADATA_ONLY, _metadata),
}
"""How kinds are kept that are large, and most of the time of no use to the operator but for a part."""


def _pulled(document: Document) -> list[IndexKey]:
    return [()] if "rtmpPull" in ((document.get("spec") or {}).get("address") or {}) else []


def _shown(document: Document) -> set[IndexKey]:
    sources = (document.get("spec") or {}).get("sources") or []
    return {(str(each["sourceId"]),) for each in sources if "sourceId" in each}


def _room(project: Document) -> list[IndexKey]:
    return [(room_name(project["metadata"]["uid"]),)]


def _node(pod: Document) -> list[IndexKey]:
    return [((pod.get("spec") or {}).get("nodeName") or "",)]


def _on_air(project: Document) -> list[IndexKey]:
    phase = ((project.get("status") or {}).get("broadcast") or {}).get("phase")
    return [()] if phase in ACTIVE_PHASES else []


def _references(part: Document) -> Iterator[str]:
    for field, value in part.items():
        if isinstance(value, dict):
            if field.endswith("SecretRef"):
                yield str(value.get("name"))
            else:
                yield from _references(value)


KINDS: Kinds = {
    COLLECTION: {},
    PROJECT: {
        BY_COLLECTION: _spec("collectionId"),
        BY_SHOWN: _shown,
        BY_ROOM: _room,
        ON_AIR: _on_air,
    },
    SOURCE: {
        BY_COLLECTION: _spec("collectionId"),
        BY_STREAM: _status("stream"),
        BY_GATEWAY: _status("gateway"),
        PULLED: _pulled,
    },
    DESTINATION: {BY_PROJECT: _spec("projectId"), BY_SECRET: _secrets},
    LAYOUT: {BY_PROJECT: _spec("projectId")},
    POD: {BY_PROJECT: _label(PROJECT_LABEL), BY_NODE: _node},
    SECRET: {
        BY_DESTINATION: _label(DESTINATION_LABEL),
        BY_SOURCE: _label(SOURCE_LABEL),
        BY_STREAM: _stream,
        BY_PROJECT: _label(PROJECT_LABEL),
    },
    NODE: {},
}
