"""The kinds that the facade watches: in which namespaces, and by what their objects are looked up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, stream_of_secret
from onair_crds.contract.labels import (
    API_KEY_TYPE,
    CREDENTIALS_TYPE,
    GUEST_CODE_LABEL,
    GUEST_CODE_TYPE,
    RENDERER_KEY_TYPE,
    REVOKED_TOKEN_TYPE,
    SIGNING_KEY_TYPE,
)
from onair_crds.contract.rooms import room_name
from onair_crds.kube.apis import CONFIG_MAPS, CUSTOM, SECRETS, Api
from onair_crds.kube.store import Index, IndexKey, Kinds
from onair_crds.shapes import Document

COLLECTION = "Collection"
PROJECT = "Project"
SOURCE = "Source"
DESTINATION = "Destination"
LAYOUT = "Layout"
CREDENTIALS = "Credentials"
SIGNING_KEY = "SigningKey"
RENDERER_KEY = "RendererKey"
API_KEY = "ApiKey"
REVOKED_TOKEN = "RevokedToken"  # noqa: S105 - the name of a kind
GUEST_CODE = "GuestCode"
INGEST_ADDRESSES = "IngestAddresses"
"""The one ConfigMap in which the operator says where publishers reach ingest."""

PARENT = "parent"
"""The index of every kind: what an object belongs to."""
STREAM = "stream"
"""The index of credentials by the hash of a stream key."""
ROOM = "room"
"""The index of projects by the name of their room."""
SHOWN = "shown"
"""The index of projects by their collection and each of their sources."""


class NamespaceRole(Enum):
    """A namespace, by what is in it."""

    SHOWS = "shows"
    KEYS = "keys"
    """Of API keys and of keys that sign and verify tokens."""
    RELEASE = "release"


@dataclass(frozen=True)
class Watched:
    """One list and watch."""

    kind: str
    api: Api
    parent: Callable[[Document], IndexKey]
    """The object's parent; `View.children` finds it by this."""
    namespace: NamespaceRole = NamespaceRole.SHOWS
    query: dict[str, str] = field(default_factory=dict)


def _by(field_name: str) -> Callable[[Document], IndexKey]:
    def parent(document: Document) -> IndexKey:
        return (str((document.get("spec") or {}).get(field_name)),)

    return parent


def _owner(document: Document) -> IndexKey:
    owner = (document.get("spec") or {}).get("owner") or {}
    return str(owner.get("serviceId")), str(owner.get("serviceUserId"))


def _none(document: Document) -> IndexKey:
    return ()


def _guest_code_label(document: Document) -> IndexKey:
    return (str((document["metadata"].get("labels") or {}).get(GUEST_CODE_LABEL)),)


def _secrets(
    kind: str,
    type_: str,
    *,
    namespace: NamespaceRole,
    parent: Callable[[Document], IndexKey] = _none,
) -> Watched:
    query = {"fieldSelector": f"type={type_}"}
    return Watched(kind, SECRETS, parent, namespace, query)


WATCHED = (
    Watched(COLLECTION, CUSTOM[COLLECTION], _owner),
    Watched(PROJECT, CUSTOM[PROJECT], _by("collectionId")),
    Watched(SOURCE, CUSTOM[SOURCE], _by("collectionId")),
    Watched(DESTINATION, CUSTOM[DESTINATION], _by("projectId")),
    Watched(LAYOUT, CUSTOM[LAYOUT], _by("projectId")),
    _secrets(CREDENTIALS, CREDENTIALS_TYPE, namespace=NamespaceRole.SHOWS),
    _secrets(SIGNING_KEY, SIGNING_KEY_TYPE, namespace=NamespaceRole.KEYS),
    _secrets(RENDERER_KEY, RENDERER_KEY_TYPE, namespace=NamespaceRole.KEYS),
    _secrets(API_KEY, API_KEY_TYPE, namespace=NamespaceRole.KEYS),
    _secrets(REVOKED_TOKEN, REVOKED_TOKEN_TYPE, namespace=NamespaceRole.SHOWS),
    _secrets(GUEST_CODE, GUEST_CODE_TYPE, namespace=NamespaceRole.SHOWS, parent=_guest_code_label),
    Watched(
        INGEST_ADDRESSES,
        CONFIG_MAPS,
        _none,
        namespace=NamespaceRole.RELEASE,
        query={"fieldSelector": f"metadata.name={ADDRESSES_CONFIG_MAP}"},
    ),
)

BY_KIND = {each.kind: each for each in WATCHED}


def _by_parent(watched: Watched) -> Callable[[Document], tuple[IndexKey]]:
    return lambda document: (watched.parent(document),)


def _stream(secret: Document) -> tuple[IndexKey, ...]:
    stream = stream_of_secret(secret)
    return ((stream,),) if stream else ()


def _room(project: Document) -> tuple[IndexKey, ...]:
    return ((room_name(project["metadata"]["uid"]),),)


def _shown(project: Document) -> set[IndexKey]:
    spec = project.get("spec") or {}
    return {(str(spec.get("collectionId")), str(each.get("sourceId"))) for each in spec.get("sources") or []}


INDICES: dict[str, dict[str, Index]] = {
    CREDENTIALS: {STREAM: _stream},
    PROJECT: {ROOM: _room, SHOWN: _shown},
}
"""Beside that by parent."""
KINDS: Kinds = {each.kind: {PARENT: _by_parent(each), **INDICES.get(each.kind, {})} for each in WATCHED}
"""The store's kinds and their indices."""
