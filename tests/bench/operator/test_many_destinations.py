"""Measures an operator of 10,000 destinations with a Secret each: its steps, its lists, its Lease."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from prometheus_client import REGISTRY
from tests.support.loop_steps import measured_steps
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.labels import CREDENTIALS_TYPE, DESTINATION_LABEL
from onair_crds.contract.owners import owner_reference
from onair_crds.kube.apis import CUSTOM, LEASES, SECRETS
from onair_crds.runtime.garbage import short_collections
from onair_crds.shapes import Document

DESTINATIONS = int(os.environ.get("ONAIR_BENCH_DESTINATIONS", "10000"))
PROJECTS = max(1, DESTINATIONS // 100)
AT_A_TIME = 32
RESYNCS = 3
STEP_BOUND_S, RESYNC_BOUND_S = 0.05, 5.0


async def test_ten_thousand_destinations_with_a_secret_each(
    operated_namespace: OperatedNamespace, report: Callable[..., float]
) -> None:
    await fill(operated_namespace)
    with short_collections():  # what the filling left behind is none of the operator's
        await measure(operated_namespace, report)


async def measure(operated_namespace: OperatedNamespace, report: Callable[..., float]) -> None:
    with measured_steps() as first:
        async with operated_namespace.operator():
            await until(lambda: all_have_a_status(operated_namespace), timeout_s=600, poll_s=2)
    report(f"{DESTINATIONS} new destinations: longest step of the operator", [first.cpu_s], "s", STEP_BOUND_S)
    print(first)
    with measured_steps() as longest:
        resyncs, seconds = resynced()
        async with operated_namespace.operator():
            await until(lambda: resynced()[0] >= resyncs + 1, timeout_s=600, poll_s=2)
            leader = await lease(operated_namespace)
            await until(lambda: resynced()[0] >= resyncs + 1 + RESYNCS, timeout_s=600, poll_s=2)
            assert await lease(operated_namespace) == leader
        count, total = resynced()
    report(f"{DESTINATIONS} destinations: longest step of the operator", [longest.cpu_s], "s", STEP_BOUND_S)
    mean_s = (total - seconds) / (count - resyncs)
    report(f"{DESTINATIONS} destinations: resync", [mean_s], "s", RESYNC_BOUND_S)
    print(longest)
    assert longest.cpu_s < 2 * STEP_BOUND_S, longest.what
    assert mean_s < 2 * RESYNC_BOUND_S


async def fill(operated_namespace: OperatedNamespace) -> None:
    await operated_namespace.collection()
    projects = [
        await operated_namespace.create("Project", f"show-{number}", {"collectionId": "sunday"})
        for number in range(PROJECTS)
    ]
    turns = asyncio.Semaphore(AT_A_TIME)

    async def make(number: int) -> None:
        project = projects[number % PROJECTS]["metadata"]
        async with turns:
            name, key = f"destination-{number}", f"key-{number}"
            address = {"url": "rtmp://media.example/live", "keySecretRef": {"name": key, "key": "key"}}
            destination = await operated_namespace.create(
                "Destination",
                name,
                {"projectId": project["name"], "address": {"rtmpPush": address}},
                ownerReferences=[owner_reference("Project", project["name"], project["uid"])],
            )
            owner = owner_reference("Destination", name, destination["metadata"]["uid"])
            metadata = {"name": key, "labels": {DESTINATION_LABEL: name}, "ownerReferences": [owner]}
            secret = {"type": CREDENTIALS_TYPE, "metadata": metadata, "stringData": {"key": f"k{number}"}}
            await operated_namespace.client.create(
                SECRETS, operated_namespace.namespace, {"apiVersion": "v1", "kind": "Secret", **secret}
            )

    await asyncio.gather(*map(make, range(DESTINATIONS)))


async def all_have_a_status(operated_namespace: OperatedNamespace) -> bool:
    missing = 0
    async for page in operated_namespace.client.pages(CUSTOM["Destination"], operated_namespace.namespace):
        missing += sum(not item.get("status") for item in page["items"])
    return not missing


def resynced() -> tuple[float, float]:
    """How many times everything was listed, and the seconds that it took in all."""
    name = "onair_operator_resync_seconds"
    return REGISTRY.get_sample_value(f"{name}_count") or 0, REGISTRY.get_sample_value(f"{name}_sum") or 0


async def lease(operated_namespace: OperatedNamespace) -> tuple[str, int]:
    spec: Document = (
        await operated_namespace.client.get(LEASES, operated_namespace.namespace, "onair-operator")
    )["spec"]
    return spec["holderIdentity"], spec["leaseTransitions"]
