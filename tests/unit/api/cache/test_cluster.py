"""What the facade's watches count, and what it takes from reads beside them."""

from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from onair_api.cache.cluster import Cluster, WatchMetrics
from onair_api.cache.watched_kinds import PROJECT
from onair_api.settings import Settings
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document


def project(uid: str, version: int) -> Document:
    return {"metadata": {"name": "show", "uid": uid, "resourceVersion": str(version)}}


class ApiServerWithoutIt:
    """Has no such object, and has one before its response is read, as the watch tells."""

    def __init__(self) -> None:
        self.cluster = Cluster(self, Settings())  # type: ignore[arg-type]

    async def get(self, *_: object) -> Document:
        self.cluster.view.update(PROJECT, project("successor", 3))
        raise ApiError(404, "NotFound", "")


@pytest.mark.parametrize("known", [False, True])
async def test_what_comes_while_its_predecessor_is_found_to_be_gone_stays(known: bool) -> None:
    cluster = ApiServerWithoutIt().cluster
    if known:
        cluster.view.update(PROJECT, project("former", 1))
    assert await cluster.fetch(PROJECT, "show") is None
    cluster.view.update(PROJECT, project("former", 2))
    entry = cluster.view.get(PROJECT, "show")
    assert entry
    assert entry.uid == "successor"
    assert cluster.view.update(PROJECT, project("successor", 4)), "it is known for good"


class RestoredFromBackup:
    """Has an earlier version of an object than it had."""

    async def get(self, *_: object) -> Document:
        return project("restored", 3)


async def test_what_was_restored_is_taken_as_it_is_read() -> None:
    cluster = Cluster(RestoredFromBackup(), Settings())  # type: ignore[arg-type]
    cluster.view.update(PROJECT, project("restored", 9))
    entry = await cluster.fetch(PROJECT, "show")
    assert entry
    assert entry.version == 3


class LoadBalancerWithoutApiServer:
    """Knows no such path."""

    async def get(self, *_: object) -> Document:
        raise ApiError(404, "", "404 page not found")


async def test_a_404_of_somebody_else_removes_nothing() -> None:
    cluster = Cluster(LoadBalancerWithoutApiServer(), Settings())  # type: ignore[arg-type]
    cluster.view.update(PROJECT, project("known", 1))
    with pytest.raises(ApiError):
        await cluster.fetch(PROJECT, "show")
    assert cluster.view.get(PROJECT, "show")
    assert cluster.view.update(PROJECT, project("known", 2))


class ApiServerThatDeletesIt:
    """Has an object that is being deleted."""

    def __init__(self) -> None:
        self.asked = 0

    async def get(self, *_: object) -> Document:
        self.asked += 1
        going = project("going", 3)
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        return going


async def test_what_is_being_deleted_is_found_by_those_who_ask_for_it() -> None:
    server = ApiServerThatDeletesIt()
    cluster = Cluster(server, Settings())  # type: ignore[arg-type]
    assert await cluster.get(PROJECT, "show") is None
    for _ in range(2):
        entry = await cluster.entry(PROJECT, "show")
        assert entry
        assert entry.uid == "going"
    assert server.asked == 1
    assert await cluster.entry(PROJECT, "../secrets") is None
    assert server.asked == 1, "no name of an object"


def count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"kind": PROJECT, **labels}) or 0.0


def test_events_and_restarts_of_watches_are_counted_by_kind() -> None:
    events, restarts = "onair_api_watch_events_total", "onair_api_watch_restarts_total"
    before = count(events, type="ADDED"), count(restarts, reason="gone")
    metrics = WatchMetrics()
    metrics.watch_event(PROJECT, "ADDED")
    metrics.watch_restarted(PROJECT, "gone")
    assert (count(events, type="ADDED"), count(restarts, reason="gone")) == (before[0] + 1, before[1] + 1)
