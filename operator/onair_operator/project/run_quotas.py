"""Whether its owner's quotas leave room for a run that a source starts; the facade counts those it starts."""

from __future__ import annotations

from collections.abc import Iterator

from onair_crds.contract.quotas import BROADCASTS, PIXELS, SERVICE, USER, pixels_per_s, quota_text
from onair_crds.kube.store import Entry
from onair_operator.cluster.watched_kinds import (
    BY_SERVICE,
    BY_USER,
    COLLECTION,
    ON_AIR_IN,
    PROJECT,
    on_air_in,
)
from onair_operator.cluster.world import World
from onair_operator.settings import RunQuota


def is_on_air(project: Entry) -> bool:
    """Whether a run of the project waits, starts or runs."""
    return bool(on_air_in(project.document))


def used_up(world: World, project: Entry) -> str | None:
    """The quota that one run more of this project would exceed, in words; None where there is room.

    Runs whose first record is being written count already.
    """
    collection = world.store.entry(COLLECTION, str(project.spec.get("collectionId")))
    owner = (collection.spec.get("owner") if collection else None) or {}
    service, user = str(owner.get("serviceId")), str(owner.get("serviceUserId"))
    quotas = world.run_quotas
    return _beyond(world, project, quotas.per_user, USER, BY_USER, service, user) or _beyond(
        world, project, quotas.per_service, SERVICE, BY_SERVICE, service
    )


def _beyond(world: World, project: Entry, quota: RunQuota, scope: str, index: str, *owner: str) -> str | None:
    if not (quota.broadcasts or quota.pixels_per_second):
        return None
    runs = [each for each in _on_air(world, index, *owner) if each.name != project.name]
    if quota.broadcasts and len(runs) >= quota.broadcasts:
        return quota_text(scope, BROADCASTS, quota.broadcasts, len(runs))
    present = sum(pixels_per_s(each.spec) for each in runs) if quota.pixels_per_second else 0
    if quota.pixels_per_second and present + pixels_per_s(project.spec) > quota.pixels_per_second:
        return quota_text(scope, PIXELS, quota.pixels_per_second, present)
    return None


def _on_air(world: World, index: str, *owner: str) -> Iterator[Entry]:
    store = world.store
    for collection in store.select(COLLECTION, index, *owner):
        yield from store.select(PROJECT, ON_AIR_IN, collection.name)
        for name in world.beginning:
            begins = store.entry(PROJECT, name)
            if begins and begins.spec.get("collectionId") == collection.name and not is_on_air(begins):
                yield begins
