"""Whether its owner's quotas leave room for a run that a source starts; the facade counts those it starts."""

from __future__ import annotations

from collections.abc import Iterable

from onair_crds.contract.quotas import BROADCASTS, PIXELS, SERVICE, USER, pixels_per_s, quota_text
from onair_crds.kube.store import Entry
from onair_operator.cluster.watched_kinds import COLLECTION, ON_AIR, PROJECT
from onair_operator.cluster.world import World
from onair_operator.settings import RunQuota


def used_up(world: World, project: Entry) -> str | None:
    """The quota that one more run of this project would exceed, as a sentence; None if there is room.

    Runs whose first record is being written count already.
    """
    service, user = _owner(world, project)
    of_service = {each.name: each for each in _runs(world) if _owner(world, each)[0] == service}
    of_service.pop(project.name, None)
    of_user = [each for each in of_service.values() if _owner(world, each)[1] == user]
    quotas = world.run_quotas
    return _beyond(quotas.per_user, USER, project, of_user) or _beyond(
        quotas.per_service, SERVICE, project, list(of_service.values())
    )


def _runs(world: World) -> Iterable[Entry]:
    """The projects on air, and those that are to be in a moment: some are both."""
    yield from world.store.select(PROJECT, ON_AIR)
    for name in world.beginning:
        if begins := world.store.entry(PROJECT, name):
            yield begins


def _owner(world: World, project: Entry) -> tuple[str, str]:
    """Service and user."""
    collection = world.store.entry(COLLECTION, str(project.spec.get("collectionId")))
    owner = (collection.spec.get("owner") if collection else None) or {}
    return str(owner.get("serviceId")), str(owner.get("serviceUserId"))


def _beyond(quota: RunQuota, scope: str, project: Entry, runs: list[Entry]) -> str | None:
    if quota.broadcasts and len(runs) >= quota.broadcasts:
        return quota_text(scope, BROADCASTS, quota.broadcasts, len(runs))
    present = sum(pixels_per_s(each.spec) for each in runs)
    if quota.pixels_per_second and present + pixels_per_s(project.spec) > quota.pixels_per_second:
        return quota_text(scope, PIXELS, quota.pixels_per_second, present)
    return None
