"""The queue holds a key once; the store keeps the newest of everything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onair_crds.contract.times import parse_time
from onair_operator.fencing import dead_nodes
from onair_operator.store import Store
from onair_operator.sweep import orphaned_secrets
from onair_operator.work_queue import WorkQueue


async def test_a_key_waits_once_and_is_not_worked_on_twice_at_a_time() -> None:
    queue = WorkQueue()
    for _ in range(3):
        queue.add("a")
    assert await queue.take() == "a"
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.take() == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_of_two_delays_the_earlier_counts() -> None:
    queue = WorkQueue()
    queue.add_after("a", 30)
    queue.add_after("a", 0.01)
    queue.add_after("a", 20)
    assert await asyncio.wait_for(queue.take(), 2) == "a"


def pod(name: str, version: int, uid: str = "u1", project: str = "show") -> dict[str, Any]:
    labels = {"onair.dev/project": project}
    return {"metadata": {"name": name, "uid": uid, "resourceVersion": str(version), "labels": labels}}


def test_an_older_version_never_replaces_a_newer_one() -> None:
    store = Store()
    assert store.put("Pod", pod("p", 5)) is True
    assert store.put("Pod", pod("p", 4)) is False
    assert store.put("Pod", pod("p", 5)) is False
    assert store.put("Pod", pod("p", 6, project="other")) is True
    assert [e.version for e in store.of_project("Pod", "other")] == [6]
    assert list(store.of_project("Pod", "show")) == []


def test_what_was_deleted_stays_deleted() -> None:
    store = Store()
    store.put("Pod", pod("p", 5))
    assert store.remove("Pod", "p", "u1") is True
    assert store.put("Pod", pod("p", 7)) is False
    assert store.put("Pod", pod("p", 8, uid="u2")) is True
    assert store.remove("Pod", "p", "u1") is False
    assert store.get("Pod", "p") is not None


def test_a_secret_bears_on_the_projects_whose_destinations_name_it() -> None:
    store = Store()
    address = {"rtmpPush": {"url": "rtmp://a/live", "keySecretRef": {"name": "key", "key": "k"}}}
    destination = {
        "metadata": {"name": "d", "uid": "u", "resourceVersion": "1"},
        "spec": {"projectId": "show", "address": address},
    }
    store.put("Destination", destination)
    assert store.keys_of("Secret", {"metadata": {"name": "key"}}) == {"project/show"}
    assert store.keys_of("Secret", {"metadata": {"name": "other"}}) == set()


def credentials(name: str, of: str, created: str, kind: str = "destination") -> dict[str, Any]:
    metadata = {"name": name, "uid": f"u-{name}", "resourceVersion": "1", "creationTimestamp": created}
    labels = {f"onair.dev/{kind}": of}
    return {"type": "onair.dev/credentials", "metadata": {**metadata, "labels": labels}}


def test_credentials_of_a_destination_that_never_came_are_swept() -> None:
    store = Store()
    spec = {"projectId": "show", "address": {}}
    store.put(
        "Destination", {"metadata": {"name": "there", "uid": "d", "resourceVersion": "1"}, "spec": spec}
    )
    store.put("Secret", credentials("kept", "there", "2026-05-01T10:00:00Z"))
    store.put("Secret", credentials("young", "gone", "2026-05-01T11:55:00Z"))
    store.put("Secret", credentials("old", "gone", "2026-05-01T11:00:00Z"))
    assert [secret.name for secret in orphaned_secrets(store, NOW)] == ["old"]


def test_stream_keys_of_a_source_that_is_gone_are_swept() -> None:
    store = Store()
    spec = {"collectionId": "c", "address": {"rtmpPush": {}}}
    store.put("Source", {"metadata": {"name": "there", "uid": "s", "resourceVersion": "1"}, "spec": spec})
    store.put("Secret", credentials("source-there", "there", "2026-05-01T10:00:00Z", "source"))
    store.put("Secret", credentials("source-gone", "gone", "2026-05-01T11:00:00Z", "source"))
    assert [secret.name for secret in orphaned_secrets(store, NOW)] == ["source-gone"]


NOW = parse_time("2026-05-01T12:00:00Z")
FRESH, STALE = parse_time("2026-05-01T11:59:55Z"), parse_time("2026-05-01T11:59:40Z")


@pytest.mark.parametrize(
    ("renewals", "dead"),
    [
        ({"a": FRESH, "b": FRESH, "c": STALE}, {"c"}),
        ({"a": FRESH, "b": STALE, "c": STALE}, set()),
        ({"a": STALE, "b": STALE}, set()),
        ({"a": STALE}, set()),
        ({}, set()),
    ],
    ids=["one", "most: the API server was away", "all", "the only one", "nothing known"],
)
def test_a_node_is_dead_when_it_alone_is_silent(renewals: dict[str, Any], dead: set[str]) -> None:
    assert dead_nodes(renewals, NOW) == dead
