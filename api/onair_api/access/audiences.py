"""What a token's sessions may see, as keys under which sessions are found."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from onair_api.auth.identity import Identity
from onair_api.auth.roles import Operation, may

Key = tuple[str, ...]

LAYOUT_FAMILY = "layout"
LIVE_FAMILY = "live"
CUSTOM_FAMILY = "custom"


def owner_key(service_id: str, service_user_id: str) -> Key:
    """Sessions of the user who owns collections, by their `spec.owner`."""
    return "owner", service_id, service_user_id


def project_key(service_id: str, project_id: str) -> Key:
    """Sessions of the guests of a project; an id may be another service's later."""
    return "project", service_id, project_id


def guests_key(service_id: str, collection_id: str) -> Key:
    """Sessions of the guests of a collection's projects."""
    return "guests", service_id, collection_id


def user_key(user_id: str) -> Key:
    """Sessions of one user: what is published without a target."""
    return "user", user_id


@dataclass(frozen=True)
class Reach:
    """Everything that one token's sessions may see."""

    user_id: str
    keys: tuple[Key, ...]
    sees_layouts: bool


@functools.lru_cache(maxsize=4096)
def reach_of(identity: Identity) -> Reach:
    service_id, guest = identity.service_id, identity.guest
    if guest:
        keys: tuple[Key, ...] = (
            project_key(service_id, guest.project_id),
            guests_key(service_id, guest.collection_id),
        )
    else:
        keys = (owner_key(*identity.owner),)
    return Reach(identity.user_id, (*keys, user_key(identity.user_id)), may(identity, Operation.GET_LAYOUT))
