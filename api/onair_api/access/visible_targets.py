"""Looks up a target that a caller names: whether they may see it, its ids above, its owner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from onair_api.access.audiences import Owner
from onair_api.access.ownership import owner_in
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION, LAYOUT, PROJECT
from onair_api.errors import InvalidArgument, NotFound, Violation
from onair_crds.kube.store import Entry


@dataclass(frozen=True)
class VisibleTarget:
    """A target that the caller may see."""

    complete: Target
    owner: Owner
    collection_uid: str
    project_uid: str = ""
    """Empty if the target is a collection."""


async def visible_target(
    cluster: Cluster, identity: Identity, target: Target, path: str = "target"
) -> VisibleTarget:
    """Completes the ids of a target that the caller sees.

    Args:
        path: of the target in the request, for error texts.

    Raises:
        NotFound: the caller sees no such collection, project or layout, or the ids are not of one collection.
        InvalidArgument: an id above the layout is not the layout's.
        ApiError: the API server had to be asked and did not respond.
    """
    if target.layout_id:
        layout = await _get(cluster, LAYOUT, target.layout_id)
        project = await _get(cluster, PROJECT, str(layout.spec.get("projectId")), LAYOUT)
        found = await _project(cluster, identity, project, LAYOUT)
        _must_match(target.project_id, found.complete.project_id, f"{path}.projectId")
        _must_match(target.collection_id, found.complete.collection_id, f"{path}.collectionId")
        complete = Target(found.complete.collection_id, found.complete.project_id, layout.name)
        return replace(found, complete=complete)
    if target.project_id:
        project = await _get(cluster, PROJECT, target.project_id)
        found = await _project(cluster, identity, project, PROJECT)
        if target.collection_id and target.collection_id != found.complete.collection_id:
            raise _missing(PROJECT)
        return found
    return await _collection(cluster, identity, str(target.collection_id))


async def _project(cluster: Cluster, identity: Identity, project: Entry, named: str) -> VisibleTarget:
    guest = identity.guest
    collection_id = str(project.spec.get("collectionId"))
    collection = await _get(cluster, COLLECTION, collection_id, named)
    owner = owner_in(collection)
    allowed = owner == identity.owner
    if guest and owner:
        allowed = owner[0] == identity.service_id and guest.reaches(project.name, project.uid)
    if not allowed or owner is None:
        raise _missing(named)
    return VisibleTarget(Target(collection_id, project.name), owner, collection.uid, project.uid)


async def _collection(cluster: Cluster, identity: Identity, collection_id: str) -> VisibleTarget:
    guest = identity.guest
    collection = await _get(cluster, COLLECTION, collection_id)
    owner = owner_in(collection)
    allowed = owner == identity.owner
    if guest and owner:
        allowed = (owner[0], collection.name) == (identity.service_id, guest.collection_id)
    if not allowed or owner is None:
        raise _missing(COLLECTION)
    return VisibleTarget(Target(collection_id), owner, collection.uid)


async def _get(cluster: Cluster, kind: str, name: str, named: str = "") -> Entry:
    entry = await cluster.get(kind, name)
    if entry is None:
        raise _missing(named or kind)
    return entry


def _missing(kind: str) -> NotFound:
    return NotFound(f"the {kind.lower()} does not exist")


def _must_match(given: str | None, actual: str | None, path: str) -> None:
    if given and given != actual:
        raise InvalidArgument(Violation(path, "is not the layout's: leave it out, or give the layout's own"))
