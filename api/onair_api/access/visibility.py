"""Whether a caller may name a target, and what it is a part of."""

from __future__ import annotations

from dataclasses import dataclass

from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import COLLECTION, LAYOUT, PROJECT
from onair_api.cache.view import Entry
from onair_api.errors import InvalidArgument, NotFound, Violation


@dataclass(frozen=True)
class Place:
    """A target that the caller may see."""

    whole: Target
    """Completed upwards."""
    owner: tuple[str, str]
    """`spec.owner` of its collection."""


async def place_of(cluster: Cluster, identity: Identity, target: Target, path: str = "target") -> Place:
    """
    Args:
        path: where the target stands in the request.

    Raises:
        NotFound: the caller sees no such collection, project or layout, or it is elsewhere.
        InvalidArgument: an id above the layout is not the layout's.
        ApiError: the API server had to be asked and did not answer.
    """
    if target.layout_id:
        layout = await _found(cluster, LAYOUT, target.layout_id)
        project = await _found(cluster, PROJECT, str(layout.spec.get("projectId")), LAYOUT)
        place = await _project(cluster, identity, project, LAYOUT)
        _must_match(target.project_id, place.whole.project_id, f"{path}.projectId")
        _must_match(target.collection_id, place.whole.collection_id, f"{path}.collectionId")
        whole = Target(place.whole.collection_id, place.whole.project_id, layout.name)
        return Place(whole, place.owner)
    if target.project_id:
        project = await _found(cluster, PROJECT, target.project_id)
        place = await _project(cluster, identity, project, PROJECT)
        if target.collection_id and target.collection_id != place.whole.collection_id:
            raise _missing(PROJECT)
        return place
    return await _collection(cluster, identity, str(target.collection_id))


async def owner_of(cluster: Cluster, collection_id: str) -> tuple[str, str] | None:
    """`spec.owner` of a collection; None if there is no such."""
    collection = await cluster.get(COLLECTION, collection_id)
    return None if collection is None else owner_in(collection)


def owner_in(collection: Entry) -> tuple[str, str]:
    owner = collection.spec.get("owner") or {}
    return str(owner.get("serviceId")), str(owner.get("serviceUserId"))


async def _project(cluster: Cluster, identity: Identity, project: Entry, named: str) -> Place:
    guest = identity.guest
    collection_id = str(project.spec.get("collectionId"))
    collection = await _found(cluster, COLLECTION, collection_id, named)
    owner = owner_in(collection)
    allowed = owner == identity.owner
    if guest:
        allowed = (owner[0], project.name) == (identity.service_id, guest.project_id)
    if not allowed:
        raise _missing(named)
    return Place(Target(collection_id, project.name), owner)


async def _collection(cluster: Cluster, identity: Identity, collection_id: str) -> Place:
    guest = identity.guest
    collection = await _found(cluster, COLLECTION, collection_id)
    owner = owner_in(collection)
    allowed = owner == identity.owner
    if guest:
        allowed = (owner[0], collection.name) == (identity.service_id, guest.collection_id)
    if not allowed:
        raise _missing(COLLECTION)
    return Place(Target(collection_id), owner)


async def _found(cluster: Cluster, kind: str, name: str, named: str = "") -> Entry:
    entry = await cluster.get(kind, name)
    if entry is None:
        raise _missing(named or kind)
    return entry


def _missing(kind: str) -> NotFound:
    return NotFound(f"the {kind.lower()} does not exist")


def _must_match(given: str | None, actual: str | None, path: str) -> None:
    if given and given != actual:
        raise InvalidArgument(Violation(path, "is not the layout's: leave it out, or give the layout's own"))
