"""Looks up what a caller may see. What others own does not exist for them, so ids cannot be probed.

A backend's token sees what its user owns; a guest's token sees one project, and
of its collection nothing else.
"""

from __future__ import annotations

from onair_api.access.audiences import GuestPlace, Owner
from onair_api.auth.identity import GuestControl, Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, PROJECT, SOURCE
from onair_api.errors import NotFound
from onair_crds.kube.store import Entry

_NO_COLLECTION = "the collection does not exist"
_NO_PROJECT = "the project does not exist"


async def owned_collection(cluster: Cluster, identity: Identity, collection_id: str) -> Entry:
    """Returns one of the caller's collections.

    Raises:
        NotFound: there is no such collection of this caller's; a guest has none.
    """
    entry = await cluster.get(COLLECTION, collection_id)
    if entry is None or identity.guest or owner_in(entry) != identity.owner:
        raise NotFound(_NO_COLLECTION)
    return entry


async def owned_project(cluster: Cluster, identity: Identity, collection_id: str, project_id: str) -> Entry:
    """Returns a project that the caller may reach.

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
    entry = await (project_of_guest(cluster, guest) if guest else cluster.get(PROJECT, project_id))
    if entry is None or entry.spec.get("collectionId") != collection_id:
        raise NotFound(_NO_PROJECT)
    return entry


async def project_of_guest(cluster: Cluster, guest: GuestControl) -> Entry | None:
    """The very project that a guest's token is for.

    Another one of its id is confirmed by the API server: another replica may just have seen the project
    replaced, and have issued the token.
    """
    entry = await cluster.get(PROJECT, guest.project_id)
    if entry and not guest.reaches(entry.name, entry.uid):
        entry = await cluster.fetch(PROJECT, guest.project_id)
    return entry if entry and guest.reaches(entry.name, entry.uid) else None


async def place_of_guest(cluster: Cluster, identity: Identity, guest: GuestControl) -> GuestPlace | None:
    """What a guest's token reaches; None if its project does not exist any more.

    Raises:
        ApiError: the API server had to be asked and did not respond.
    """
    project = await project_of_guest(cluster, guest)
    collection = await cluster.get(COLLECTION, guest.collection_id)
    owner = owner_in(collection) if collection else None
    if project is None or collection is None or owner is None or owner[0] != identity.service_id:
        return None
    return GuestPlace(collection.uid, project.uid, owner)


async def owned_destination(cluster: Cluster, project: Entry, destination_id: str) -> Entry:
    """Returns a destination of a project.

    Raises:
        NotFound: the project has no such destination.
    """
    entry = await cluster.get(DESTINATION, destination_id)
    if entry is None or entry.spec.get("projectId") != project.name:
        raise NotFound("the destination does not exist")
    return entry


async def source_of(cluster: Cluster, collection_id: str, source_id: str) -> Entry:
    """Returns a source of a collection.

    Raises:
        NotFound: the collection has no such source.
    """
    entry = await cluster.get(SOURCE, source_id)
    if entry is None or entry.spec.get("collectionId") != collection_id:
        raise NotFound("the source does not exist")
    return entry


def owner_in(collection: Entry) -> Owner | None:
    """The service and the user that a collection belongs to; None if its spec has no owner."""
    owner = collection.spec.get("owner")
    return (owner["serviceId"], owner["serviceUserId"]) if owner else None
