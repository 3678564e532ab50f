"""The operator on a real API server. There is no kubelet, so the test says what a kubelet would."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from onair_crds.kube.apis import CUSTOM, EVENTS, LEASES, PODS, SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION
from onair_crds.shapes import Document
from onair_operator.runtime import run
from onair_operator.settings import LeaderElectionSettings, OperatorSettings, RegionSettings

DEADLINE_S = 20.0
T = TypeVar("T")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def settings_for(namespace: str) -> OperatorSettings:
    return OperatorSettings(
        show_namespace=namespace,
        release_namespace=namespace,
        regions=[RegionSettings(name="eu-central-1", latitude=50.1, longitude=8.7)],
        leader_election=LeaderElectionSettings(lease_duration_s=3.0, renew_interval_s=0.5),
        health_port=free_port(),
        resync_interval_s=5.0,
    )


async def until(what: str, check: Callable[[], Awaitable[T | None]]) -> T:
    """The first true answer; fails with `what` after the deadline."""
    deadline = asyncio.get_running_loop().time() + DEADLINE_S
    while True:
        if answer := await check():
            return answer
        assert asyncio.get_running_loop().time() < deadline, f"not within {DEADLINE_S} s: {what}"
        await asyncio.sleep(0.02)


class Cluster:
    """What a test does to the API server and sees of it."""

    def __init__(self, client: KubeClient, namespace: str, kubeconfig: Path) -> None:
        self.client, self.namespace, self.kubeconfig = client, namespace, kubeconfig

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        task = asyncio.create_task(run(settings_for(self.namespace), stop, str(self.kubeconfig)))
        try:
            yield
        finally:
            stop.set()
            await asyncio.wait_for(task, 10)

    async def crash(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def create(self, kind: str, name: str, spec: Document, **metadata: Any) -> Document:
        document = {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }
        return await self.client.create(CUSTOM[kind], self.namespace, document)

    async def collection(self) -> Document:
        return await self.create(
            "Collection", "sunday", {"owner": {"serviceId": "studio", "serviceUserId": "anna"}}
        )

    async def project(self, state: str = "Running", **spec: Any) -> Document:
        composition = {"external": {"url": "http://graphics.example/stage"}}
        return await self.create(
            "Project",
            "show",
            {"collectionId": "sunday", "composition": composition, "broadcast": {"state": state}, **spec},
        )

    async def get(self, kind: str, name: str) -> Document | None:
        try:
            return await self.client.get(CUSTOM[kind], self.namespace, name)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    async def patch(self, kind: str, name: str, spec: Document) -> Document:
        return await self.client.merge_patch(CUSTOM[kind], self.namespace, name, {"spec": spec})

    async def phase(self, wanted: str, name: str = "show") -> Document:
        async def check() -> Document | None:
            status = ((await self.get("Project", name)) or {}).get("status", {})
            return status if (status.get("broadcast") or {}).get("phase") == wanted else None

        return await until(f"phase {wanted}", check)

    async def ready(self, kind: str, name: str, reason: str) -> Document:
        async def check() -> Document | None:
            document = (await self.get(kind, name)) or {}
            conditions = document.get("status", {}).get("conditions", [])
            return next((c for c in conditions if c["type"] == "Ready" and c["reason"] == reason), None)

        return await until(f"{kind} {name} Ready with reason {reason}", check)

    async def pods(self) -> list[Document]:
        return (await self.client.list(PODS, self.namespace))["items"]  # type: ignore[no-any-return]

    async def pod(self, name: str) -> Document:
        async def check() -> Document | None:
            return next((p for p in await self.pods() if p["metadata"]["name"] == name), None)

        return await until(f"pod {name}", check)

    async def pod_is(self, name: str, status: Document) -> None:
        """Says what a kubelet or the scheduler would say of a pod."""
        await self.client.merge_patch(PODS, self.namespace, name, {"status": status}, "status")

    async def events(self) -> list[str]:
        return [e["reason"] for e in (await self.client.list(EVENTS, self.namespace))["items"]]


@pytest.fixture
async def cluster(crds: None, namespace: str, kubeconfig: Path) -> AsyncIterator[Cluster]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield Cluster(client, namespace, kubeconfig)


async def test_a_wanted_show_gets_one_pod_and_its_story(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        pod = await cluster.pod("show-first-1")
        status = await cluster.phase("Waiting")
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 1)

        async def adopted() -> Document | None:
            project = await cluster.get("Project", "show")
            return project if project and project["metadata"].get("ownerReferences") else None

        project = await until("the project is its collection's", adopted)
        assert project["metadata"]["finalizers"] == ["onair.dev/broadcast"]
        assert [o["kind"] for o in project["metadata"]["ownerReferences"]] == ["Collection"]
        assert pod["metadata"]["ownerReferences"][0]["uid"] == project["metadata"]["uid"]
        identity = await cluster.client.get(SECRETS, cluster.namespace, "show-first-1")
        assert set(identity["data"]) == {"tls.crt", "tls.key", "verify.pem", "snapshot.key"}

        async def story() -> bool:
            return "BroadcastRequested" in await cluster.events()

        await until("the event BroadcastRequested", story)
        assert len(await cluster.pods()) == 1


async def test_a_full_cluster_is_taken_up_without_touching_what_runs(cluster: Cluster) -> None:
    await cluster.collection()
    await cluster.project(broadcast={"state": "Running", "id": "first"})
    async with cluster.operator():
        pod = await cluster.pod("show-first-1")
        await until("the encoder is recorded", lambda: encoder_recorded(cluster, pod["metadata"]["uid"]))
    async with cluster.operator():
        await cluster.ready("Project", "show", "Waiting")
        await cluster.create("Destination", "late", destination_spec())
        await cluster.ready("Destination", "late", "Disconnected")
        (kept,) = await cluster.pods()
        assert kept["metadata"]["uid"] == pod["metadata"]["uid"]
        assert "deletionTimestamp" not in kept["metadata"]


async def encoder_recorded(cluster: Cluster, uid: str) -> bool:
    project = await cluster.get("Project", "show")
    return bool(project and project.get("status", {}).get("broadcast", {}).get("encoder") == uid)


def destination_spec(**rtmp: Any) -> Document:
    return {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://media.example/live", **rtmp}}}


async def test_a_crash_between_claim_and_pod_leads_to_one_pod(cluster: Cluster) -> None:
    await cluster.collection()
    await cluster.project(broadcast={"state": "Running", "id": "first"})
    claim = {
        "id": "first",
        "epoch": 1,
        "phase": "Waiting",
        "pod": "show-first-1",
        "claimed": "2026-01-01T00:00:00.000Z",
    }
    await cluster.client.merge_patch(
        CUSTOM["Project"], cluster.namespace, "show", {"status": {"broadcast": claim}}, "status"
    )
    async with cluster.operator():
        pod = await cluster.pod("show-first-1")
        await until("the encoder is recorded", lambda: encoder_recorded(cluster, pod["metadata"]["uid"]))
        assert len(await cluster.pods()) == 1


async def test_a_lost_pod_is_replaced_under_the_same_id(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        pod = await cluster.pod("show-first-1")
        await until("the encoder is recorded", lambda: encoder_recorded(cluster, pod["metadata"]["uid"]))
        await cluster.client.delete(PODS, cluster.namespace, "show-first-1", grace_period_s=0)
        await cluster.pod("show-first-2")
        status = (await cluster.get("Project", "show") or {})["status"]
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 2)


async def test_stop_while_starting_and_no_second_run_of_the_same_id(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project()
        waiting = await cluster.phase("Waiting")
        made_up = waiting["broadcast"]["id"]
        await cluster.pod(f"show-{made_up}-1")
        await cluster.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
        await cluster.phase("Stopped")

        async def no_pods() -> bool:
            return not [p for p in await cluster.pods() if "deletionTimestamp" not in p["metadata"]]

        async def let_go() -> bool:
            project = await cluster.get("Project", "show")
            return project is not None and not project["metadata"].get("finalizers")

        await until("no pods", no_pods)
        await until("no finalizer", let_go)
        await cluster.patch("Project", "show", {"broadcast": {"state": "Running"}})
        again = await cluster.phase("Waiting")
        assert again["broadcast"]["id"] != made_up
        assert again["previous"]["phase"] == "Archived"


async def test_children_may_come_before_their_parents(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.create("Destination", "main", destination_spec())
        await cluster.ready("Destination", "main", "ProjectNotFound")
        await cluster.project()
        condition = await cluster.ready("Project", "show", "CollectionNotFound")
        assert condition["message"] == "Collection sunday does not exist"
        assert await cluster.pods() == []
        await cluster.collection()
        await cluster.phase("Waiting")
        destination = await cluster.get("Destination", "main")
        assert destination is not None
        assert [o["kind"] for o in destination["metadata"]["ownerReferences"]] == ["Project"]


async def test_scheduler_and_kubelet_troubles_become_reasons(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        await cluster.pod("show-first-1")
        unschedulable = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/1 nodes are available: 1 Insufficient cpu.",
        }
        await cluster.pod_is("show-first-1", {"conditions": [unschedulable]})
        condition = await cluster.ready("Project", "show", "NoCapacity")
        assert "no node of region eu-central-1 has 0.8 CPU" in condition["message"]
        await cluster.client._request(  # what the scheduler does
            "POST",
            f"/api/v1/namespaces/{cluster.namespace}/pods/show-first-1/binding",
            {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": "show-first-1"},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
            },
        )
        waiting = {"reason": "ImagePullBackOff", "message": "not found"}
        await cluster.pod_is(
            "show-first-1",
            {
                "conditions": [{"type": "PodScheduled", "status": "True"}],
                "containerStatuses": [
                    {
                        "name": "browser",
                        "image": "onair/encoder:x",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"waiting": waiting},
                    }
                ],
            },
        )
        condition = await cluster.ready("Project", "show", "ImagePullFailed")
        assert condition["message"] == "onair/encoder:x: not found"
        await cluster.phase("Starting")


async def test_a_live_project_is_deleted_only_after_its_show_ended(cluster: Cluster) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project()
        await cluster.phase("Waiting")
        await cluster.client.delete(CUSTOM["Project"], cluster.namespace, "show")

        async def gone() -> bool:
            return await cluster.get("Project", "show") is None

        await until("the project is gone", gone)


async def test_one_leads_and_the_other_takes_over(cluster: Cluster) -> None:
    async with contextlib.AsyncExitStack() as second:
        async with cluster.operator():
            await cluster.collection()
            await cluster.ready("Collection", "sunday", "Accepted")
            lease = await cluster.client.get(LEASES, cluster.namespace, "onair-operator")
            # It begins after the first in the same loop: what ends the first must leave it alone.
            await second.enter_async_context(cluster.operator())
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        await cluster.pod("show-first-1")
        after = await cluster.client.get(LEASES, cluster.namespace, "onair-operator")
        assert after["spec"]["leaseTransitions"] == lease["spec"]["leaseTransitions"] + 1
        assert after["spec"]["holderIdentity"] != lease["spec"]["holderIdentity"]


async def test_a_hundred_shows_get_a_hundred_pods(cluster: Cluster) -> None:
    await cluster.collection()
    spec = {"collectionId": "sunday", "broadcast": {"state": "Running", "id": "one"}}
    await asyncio.gather(*(cluster.create("Project", f"show-{n}", spec) for n in range(100)))
    async with cluster.operator():

        async def all_pods() -> bool:
            return len(await cluster.pods()) == 100

        await until("a hundred pods", all_pods)
    async with cluster.operator():
        await cluster.create("Project", "show-100", spec)
        await cluster.pod("show-100-one-1")
        assert len(await cluster.pods()) == 101


async def test_a_foreign_secret_is_not_mailed(cluster: Cluster) -> None:
    foreign = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "admin"},
        "stringData": {"key": "hunter2"},
    }
    await cluster.client.create(SECRETS, cluster.namespace, foreign)
    async with cluster.operator():
        await cluster.collection()
        await cluster.project("Stopped")
        await cluster.create(
            "Destination", "thief", destination_spec(keySecretRef={"name": "admin", "key": "key"})
        )
        condition = await cluster.ready("Destination", "thief", "SecretNotAllowed")
        assert "onair.dev/credentials" in condition["message"]
        assert "hunter2" not in str(await cluster.get("Destination", "thief"))
