"""Looks up what a caller may see. What others own does not exist for them, so ids cannot be probed.

A backend's token sees what its user owns; a guest's token sees one project, and
of its collection nothing else.
"""

from __future__ import annotations

from onair_api.access.audiences import Owner
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, PROJECT, SOURCE
from onair_api.errors import NotFound
from onair_crds.kube.store import Entry

_NO_COLLECTION = "the collection does not exist"
_NO_PROJECT = "the project does not exist"


async def owned_collection(cluster: Cluster, identity: Identity, collection_id: str) -> Entry:
    """
    Raises:
        NotFound: there is no such collection of this caller's; a guest has none.
    """
    entry = await cluster.get(COLLECTION, collection_id)
    if entry is None or identity.guest or owner_in(entry) != identity.owner:
        raise NotFound(_NO_COLLECTION)
    return entry


async def owned_project(cluster: Cluster, identity: Identity, collection_id: str, project_id: str) -> Entry:
    """
    Raises:
        NotFound: there is no such project in a collection of this caller's, or it is not the guest's.
    """
    if guest := identity.guest:
        if (guest.collection_id, guest.project_id) != (collection_id, project_id):
            raise NotFound(_NO_PROJECT)
        collection = await cluster.get(COLLECTION, collection_id)
        owner = owner_in(collection) if collection else None
        if owner is None or owner[0] != identity.service_id:
            raise NotFound(_NO_PROJECT)
    else:
        await owned_collection(cluster, identity, collection_id)
    entry = await cluster.get(PROJECT, project_id)
    if entry is None or entry.spec.get("collectionId") != collection_id:
        raise NotFound(_NO_PROJECT)
    if guest and not guest.reaches(entry.name, entry.uid):
        raise NotFound(_NO_PROJECT)
    return entry


async def owned_destination(cluster: Cluster, project: Entry, destination_id: str) -> Entry:
    """
    Raises:
        NotFound: the project has no such destination.
    """
    entry = await cluster.get(DESTINATION, destination_id)
    if entry is None or entry.spec.get("projectId") != project.name:
        raise NotFound("the destination does not exist")
    return entry


async def source_of(cluster: Cluster, collection_id: str, source_id: str) -> Entry:
    """
    Raises:
        NotFound: the collection has no such source.
    """
    entry = await cluster.get(SOURCE, source_id)
    if entry is None or entry.spec.get("collectionId") != collection_id:
        raise NotFound("the source does not exist")
    return entry


async def owner_of(cluster: Cluster, collection_id: str) -> Owner | None:
    """`spec.owner` of a collection; None if there is no such collection, or nobody owns it."""
    collection = await cluster.get(COLLECTION, collection_id)
    return owner_in(collection) if collection else None


def owner_in(collection: Entry) -> Owner | None:
    owner = collection.spec.get("owner")
    return (owner["serviceId"], owner["serviceUserId"]) if owner else None
