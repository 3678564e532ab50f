"""Pods of gateways that cannot be reached are looked at, and those are kept that are to be deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest
from structlog.testing import capture_logs
from tests.support.waiting import until

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster import ingest_pods
from onair_operator.cluster.ingest_pods import IngestPods, LeavingPod
from onair_operator.ingest.gateway_streams import GatewayStreams
from onair_operator.settings import GatewaySettings

DELETED = {"deletionTimestamp": "2026-05-01T12:00:00Z"}
FORBIDDEN = ApiError(403, "Forbidden", 'User "operator" cannot get resource "pods" in API group ""')


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_pods, "INTERVAL_S", 0.0)


class PodsOfRelease:
    """What the API server says of each pod."""

    def __init__(self, **pods: Document | ApiError) -> None:
        self.pods = {name.replace("_", "-"): pod for name, pod in pods.items()}
        self.asked: list[str] = []

    async def get(self, _: Api, namespace: str, name: str) -> Document:
        await asyncio.sleep(0)
        assert namespace == "onair-system"
        self.asked.append(name)
        found = self.pods[name]
        if isinstance(found, ApiError):
            raise found
        return found


def pod(name: str, node: str | None = "node-a", **metadata: Any) -> Document:
    return {"metadata": {"name": name, "uid": f"uid-{name}", **metadata}, "spec": {"nodeName": node}}


def streams(names: Iterable[str], lost: Iterable[str]) -> GatewayStreams:
    made = GatewayStreams(GatewaySettings(name=each, url="http://127.0.0.1:9") for each in names)
    for each in lost:
        made.unreachable(each)
    return made


async def looked(
    pods: IngestPods, api: PodsOfRelease, gateways: GatewayStreams, looks: int = 2
) -> IngestPods:
    """The pods as found by so many looks, while it goes on looking."""
    task = asyncio.create_task(pods.run(gateways))
    try:
        await until(lambda: len(api.asked) >= looks * len(pods.lost or {""}))
        found = IngestPods()
        found.lost, found.leaving = pods.lost, pods.leaving
        return found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_those_that_are_to_be_deleted_are_found_on_their_nodes() -> None:
    api = PodsOfRelease(a=pod("a", **DELETED), b=pod("b"), c=pod("c", node=None, **DELETED))
    pods = IngestPods(cast(Any, api), "onair-system")
    found = await looked(pods, api, streams("abcd", lost="abc"))
    assert (found.lost, found.leaving) == (frozenset("abc"), (LeavingPod("a", "uid-a", "node-a"),))
    assert "d" not in api.asked
    assert (pods.lost, pods.leaving) == (frozenset(), ())


async def test_one_of_which_nothing_is_known_does_not_leave_and_a_missing_right_is_told_once() -> None:
    gone, away = ApiError(404, "NotFound", "not found"), ApiError(503, "", "unavailable")
    api = PodsOfRelease(a=gone, b=away, c=FORBIDDEN, d=pod("d", **DELETED))
    pods = IngestPods(cast(Any, api), "onair-system")
    with capture_logs() as logs:
        found = await looked(pods, api, streams("abcd", lost="abcd"), looks=3)
    assert [each.name for each in found.leaving] == ["d"]
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["ingest-pods.forbidden"]


async def test_who_does_not_lead_asks_nothing() -> None:
    api = PodsOfRelease(a=pod("a", **DELETED))
    asked = asyncio.Event()

    def leads() -> bool:
        asked.set()
        return False

    task = asyncio.create_task(IngestPods(cast(Any, api), "onair-system", leads).run(streams("a", lost="a")))
    await asked.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert api.asked == []
