"""Looks up the layouts that a caller may see: those of the projects that they may see."""

from __future__ import annotations

from onair_api.access.ownership import owned_project, owner_in
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.gone_layouts import Place, place_of
from onair_api.cache.watched_kinds import COLLECTION, LAYOUT, PROJECT
from onair_api.errors import NotFound, PermissionDenied
from onair_crds.kube.store import Entry


async def project_of(cluster: Cluster, identity: Identity, project_id: str) -> Entry:
    """A project, found only by its id.

    Raises:
        NotFound: there is no such project that this caller may see.
    """
    project = await cluster.get(PROJECT, project_id)
    if project is None:
        raise NotFound("the project does not exist")
    return await owned_project(cluster, identity, str(project.spec.get("collectionId")), project.name)


async def owned_layout(cluster: Cluster, identity: Identity, layout_id: str) -> tuple[Entry, Entry]:
    """The layout and its project.

    Raises:
        NotFound: there is no such layout that this caller may see.
    """
    missing = NotFound("the layout does not exist")
    layout = await cluster.get(LAYOUT, layout_id)
    if layout is None:
        raise missing
    try:
        return layout, await project_of(cluster, identity, str(layout.spec.get("projectId")))
    except NotFound:
        raise missing from None


async def deletable_layout(cluster: Cluster, identity: Identity, layout_id: str) -> Entry | None:
    """The layout; None if it has just gone with its project, which is as good.

    Raises:
        NotFound: there is, and was, no such layout that this caller may see.
    """
    try:
        return (await owned_layout(cluster, identity, layout_id))[0]
    except NotFound:
        layout = cluster.view.get(LAYOUT, layout_id)
        place = place_of(layout) if layout else cluster.view.gone_layouts.place(layout_id)
        if place is None or not await _lost_with(cluster, identity, place):
            raise
        return layout


async def _lost_with(cluster: Cluster, identity: Identity, place: Place) -> bool:
    """Whether a layout's project is gone, and the caller reached it.

    Asks the API server: the watch of layouts may be ahead of that of projects.
    """
    if await cluster.fetch(PROJECT, place.project_id) is not None:
        return False
    collection = await cluster.get(COLLECTION, place.collection_id)
    owner = owner_in(collection) if collection else None
    if guest := identity.guest:
        reached = guest.collection_id == place.collection_id
        reached = reached and guest.reaches(place.project_id, place.project_uid)
        return reached and owner is not None and owner[0] == identity.service_id
    return owner == identity.owner


async def visible_projects(cluster: Cluster, identity: Identity, project_id: str | None) -> list[Entry]:
    """The projects whose layouts the caller may list, or the named one of them; none for another's."""
    if identity.guest:
        project_id = project_id or identity.guest.project_id
    if project_id:
        try:
            return [await project_of(cluster, identity, project_id)]
        except (NotFound, PermissionDenied):
            return []
    view = cluster.view
    return [
        project
        for collection in view.children(COLLECTION, *identity.owner)
        for project in view.children(PROJECT, collection.name)
    ]
