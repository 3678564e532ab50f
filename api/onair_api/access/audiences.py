"""Audiences: keys under which sessions are found, of what an event is about and of what a token may see."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.auth.roles import RENDERERS, may

AudienceKey = tuple[str, ...]
Owner = tuple[str, str]
"""`spec.owner` of a collection: service id, id of the service's user."""


def owner_key(service_id: str, service_user_id: str) -> AudienceKey:
    """Sessions of the user who owns collections, by their `spec.owner`."""
    return "owner", service_id, service_user_id


def project_key(service_id: str, project_id: str) -> AudienceKey:
    """Sessions of the guests of a project; another service may reuse the id later."""
    return "project", service_id, project_id


def guests_key(service_id: str, collection_id: str) -> AudienceKey:
    """Sessions of the guests of a collection's projects."""
    return "guests", service_id, collection_id


def user_key(user_id: str) -> AudienceKey:
    """Sessions of one user: what is published without a target."""
    return "user", user_id


def audiences_of(target: Target, owner: Owner | None) -> tuple[AudienceKey, ...]:
    """Audiences of a complete target: its owner, and its guests."""
    if owner is None:
        return ()
    if target.project_id:
        return owner_key(*owner), project_key(owner[0], target.project_id)
    if target.collection_id:
        return owner_key(*owner), guests_key(owner[0], target.collection_id)
    return (owner_key(*owner),)


@dataclass(frozen=True)
class Visibility:
    """Everything that the sessions of one token may see."""

    user_id: str
    keys: tuple[AudienceKey, ...]
    sees_layouts: bool
    sees_addresses: bool = True
    """Of destinations and pages."""


@functools.lru_cache(maxsize=4096)
def visibility_of(identity: Identity) -> Visibility:
    service_id, guest = identity.service_id, identity.guest
    if guest:
        keys: tuple[AudienceKey, ...] = (
            project_key(service_id, guest.project_id),
            guests_key(service_id, guest.collection_id),
        )
    else:
        keys = (owner_key(*identity.owner),)
    keys = (*keys, user_key(identity.user_id))
    return Visibility(identity.user_id, keys, may(identity, RENDERERS), identity.sees_addresses)
