"""What a token's sessions may see, as keys under which sessions are found."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from onair_api.auth.identity import Identity
from onair_api.auth.roles import Operation, authorize
from onair_api.errors import PermissionDenied

Key = tuple[str, ...]

LAYOUT_FAMILY = "layout"
LIVE_FAMILY = "live"
CUSTOM_FAMILY = "custom"


def owner_key(service_id: str, service_user_id: str) -> Key:
    """Sessions of the user who owns collections, by their `spec.owner`."""
    return "owner", service_id, service_user_id


def project_key(project_id: str) -> Key:
    """Sessions of the guests of a project."""
    return "project", project_id


def guests_key(collection_id: str) -> Key:
    """Sessions of the guests of a collection's projects."""
    return "guests", collection_id


def user_key(user_id: str) -> Key:
    """Sessions of one user: what is published without a target."""
    return "user", user_id


@dataclass(frozen=True)
class Confinement:
    """The one project that a guest's token reaches."""

    collection_id: str
    project_id: str


def confinement(identity: Identity) -> Confinement | None:
    """None: the token of a backend's user, who sees the collections that he owns."""
    guest: Any = getattr(identity, "guest", None)
    return None if guest is None else Confinement(guest.collection_id, guest.project_id)


@dataclass(frozen=True)
class Reach:
    """Everything that one token's sessions may see."""

    user_id: str
    keys: tuple[Key, ...]
    guest: Confinement | None
    sees_layouts: bool


@functools.lru_cache(maxsize=4096)
def reach_of(identity: Identity) -> Reach:
    guest = confinement(identity)
    if guest:
        keys: tuple[Key, ...] = (project_key(guest.project_id), guests_key(guest.collection_id))
    else:
        keys = (owner_key(*identity.owner),)
    return Reach(identity.user_id, (*keys, user_key(identity.user_id)), guest, _reads_layouts(identity))


def _reads_layouts(identity: Identity) -> bool:
    operation = Operation.__members__.get("GET_LAYOUT")
    if operation is None:
        return True
    try:
        authorize(identity, operation)
    except PermissionDenied:
        return False
    return True
