"""Audiences: keys under which sessions are found, of what an event is about and of what a token may see."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from onair_api.auth.identity import Identity
from onair_api.auth.roles import RENDERERS, may

AudienceKey = tuple[str, ...]
Owner = tuple[str, str]
"""`spec.owner` of a collection: service id, id of the service's user."""


def owner_key(service_id: str, service_user_id: str) -> AudienceKey:
    """Sessions of the user who owns collections, by their `spec.owner`."""
    return "owner", service_id, service_user_id


def project_key(service_id: str, project_uid: str) -> AudienceKey:
    """Sessions of the guests of a project; by its uid, as others may be given its id later."""
    return "project", service_id, project_uid


def guests_key(service_id: str, collection_uid: str) -> AudienceKey:
    """Sessions of the guests of a collection's projects."""
    return "guests", service_id, collection_uid


def user_key(user_id: str) -> AudienceKey:
    """Sessions of one user: what is published without a target."""
    return "user", user_id


def audiences_of(owner: Owner, *, collection_uid: str = "", project_uid: str = "") -> tuple[AudienceKey, ...]:
    """Audiences of what an owner has: the owner, and guests of one project or of a collection's projects."""
    if project_uid:
        return owner_key(*owner), project_key(owner[0], project_uid)
    if collection_uid:
        return owner_key(*owner), guests_key(owner[0], collection_uid)
    return (owner_key(*owner),)


@dataclass(frozen=True)
class GuestPlace:
    """What a guest's token reaches: a project and its collection, and who owns them."""

    collection_uid: str
    project_uid: str
    owner: Owner


@dataclass(frozen=True)
class Visibility:
    """Everything that the sessions of one token may see."""

    user_id: str
    keys: tuple[AudienceKey, ...]
    sees_layouts: bool
    sees_addresses: bool = True
    """Of destinations and pages."""


@functools.lru_cache(maxsize=4096)
def visibility_of(identity: Identity, place: GuestPlace | None = None) -> Visibility:
    """Returns what a caller may see of events.

    Args:
        place: of a guest.
    """
    if place:
        service_id = identity.service_id
        keys: tuple[AudienceKey, ...] = (
            project_key(service_id, place.project_uid),
            guests_key(service_id, place.collection_uid),
        )
    else:
        keys = (owner_key(*identity.owner),)
    keys = (*keys, user_key(identity.user_id))
    return Visibility(identity.user_id, keys, may(identity, RENDERERS), identity.sees_addresses)
