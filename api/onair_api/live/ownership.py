"""What a caller may see. What belongs to somebody else does not exist for him, so ids cannot be probed."""

from __future__ import annotations

from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import COLLECTION, DESTINATION, PROJECT
from onair_api.cache.view import Entry
from onair_api.errors import NotFound


async def owned_collection(cluster: Cluster, identity: Identity, collection_id: str) -> Entry:
    """
    Raises:
        NotFound: there is no such collection of this caller's.
    """
    entry = await cluster.get(COLLECTION, collection_id)
    owner = entry.spec.get("owner") if entry else None
    if entry is None or not owner or (owner["serviceId"], owner["serviceUserId"]) != identity.owner:
        raise NotFound("the collection does not exist")
    return entry


async def owned_project(cluster: Cluster, identity: Identity, collection_id: str, project_id: str) -> Entry:
    """
    Raises:
        NotFound: there is no such project in a collection of this caller's.
    """
    await owned_collection(cluster, identity, collection_id)
    entry = await cluster.get(PROJECT, project_id)
    if entry is None or entry.spec.get("collectionId") != collection_id:
        raise NotFound("the project does not exist")
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
