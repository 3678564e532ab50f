"""The operator on a real API server: shows from start to end, crashes, and two operators."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.kube.apis import CUSTOM, LEASES, PODS, SECRETS
from onair_crds.shapes import Document


async def test_a_wanted_show_gets_one_pod_and_its_story(cluster: OperatedNamespace) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        pod = await cluster.pod("show-first-1")
        status = await cluster.phase("Waiting")
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 1)

        async def adopted() -> Document | None:
            project = await cluster.get("Project", "show")
            return project if project and project["metadata"].get("ownerReferences") else None

        project = await until(adopted, "the project is its collection's")
        assert project["metadata"]["finalizers"] == ["onair.dev/broadcast"]
        assert [o["kind"] for o in project["metadata"]["ownerReferences"]] == ["Collection"]
        assert pod["metadata"]["ownerReferences"][0]["uid"] == project["metadata"]["uid"]
        identity = await cluster.client.get(SECRETS, cluster.namespace, "show-first-1")
        assert set(identity["data"]) == {"tls.crt", "tls.key", "verify.pem", "snapshot.key"}

        async def story() -> bool:
            return "BroadcastRequested" in await cluster.events()

        await until(story, "the event BroadcastRequested")
        assert len(await cluster.pods()) == 1


async def test_a_full_cluster_is_taken_up_without_touching_what_runs(cluster: OperatedNamespace) -> None:
    await cluster.collection()
    await cluster.project(broadcast={"state": "Running", "id": "first"})
    async with cluster.operator():
        pod = await cluster.pod("show-first-1")
        await until(lambda: encoder_recorded(cluster, pod["metadata"]["uid"]), "the encoder is recorded")
    async with cluster.operator():
        await cluster.ready("Project", "show", "Waiting")
        await cluster.create("Destination", "late", destination_spec())
        await cluster.ready("Destination", "late", "Disconnected")
        (kept,) = await cluster.pods()
        assert kept["metadata"]["uid"] == pod["metadata"]["uid"]
        assert "deletionTimestamp" not in kept["metadata"]


async def encoder_recorded(cluster: OperatedNamespace, uid: str) -> bool:
    project = await cluster.get("Project", "show")
    return bool(project and project.get("status", {}).get("broadcast", {}).get("encoder") == uid)


def destination_spec(**rtmp: Any) -> Document:
    return {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://media.example/live", **rtmp}}}


async def test_a_crash_between_claim_and_pod_leads_to_one_pod(cluster: OperatedNamespace) -> None:
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
        await until(lambda: encoder_recorded(cluster, pod["metadata"]["uid"]), "the encoder is recorded")
        assert len(await cluster.pods()) == 1


async def test_a_lost_pod_is_replaced_under_the_same_id(cluster: OperatedNamespace) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project(broadcast={"state": "Running", "id": "first"})
        pod = await cluster.pod("show-first-1")
        await until(lambda: encoder_recorded(cluster, pod["metadata"]["uid"]), "the encoder is recorded")
        await cluster.client.delete(PODS, cluster.namespace, "show-first-1", grace_period_s=0)
        await cluster.pod("show-first-2")
        status = (await cluster.get("Project", "show") or {})["status"]
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 2)


async def test_stop_while_starting_and_no_second_run_of_the_same_id(cluster: OperatedNamespace) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project()
        waiting = await cluster.phase("Waiting")
        generated = waiting["broadcast"]["id"]
        await cluster.pod(f"show-{generated}-1")
        await cluster.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
        await cluster.phase("Stopped")

        async def no_pods() -> bool:
            return not [p for p in await cluster.pods() if "deletionTimestamp" not in p["metadata"]]

        async def let_go() -> bool:
            project = await cluster.get("Project", "show")
            return project is not None and not project["metadata"].get("finalizers")

        await until(no_pods, "no pods")
        await until(let_go, "no finalizer")
        await cluster.patch("Project", "show", {"broadcast": {"state": "Running"}})
        again = await cluster.phase("Waiting")
        assert again["broadcast"]["id"] != generated
        assert again["previous"]["phase"] == "Archived"


async def test_children_may_come_before_their_parents(cluster: OperatedNamespace) -> None:
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


async def test_a_source_becomes_its_collections_whichever_comes_first(cluster: OperatedNamespace) -> None:
    source = {"collectionId": "sunday", "address": {"rtmpPush": {}}}

    async def owners(name: str) -> list[str]:
        found = await cluster.get("Source", name)
        return [o["uid"] for o in (found or {}).get("metadata", {}).get("ownerReferences", [])]

    async with cluster.operator():
        await cluster.create("Source", "early", source)
        collection = await cluster.collection()
        await cluster.create("Source", "late", source)
        for name in ("early", "late"):
            assert await until(lambda name=name: owners(name), f"{name} is owned") == [
                collection["metadata"]["uid"]
            ]


async def test_a_destination_says_when_its_project_is_gone(cluster: OperatedNamespace) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project("Stopped")
        await cluster.create("Destination", "main", destination_spec())
        await cluster.ready("Destination", "main", "NotRunning")
        await cluster.client.delete(CUSTOM["Project"], cluster.namespace, "show")
        await cluster.ready("Destination", "main", "ProjectNotFound")


async def test_scheduler_and_kubelet_troubles_become_reasons(cluster: OperatedNamespace) -> None:
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
        await cluster.bind("show-first-1", "node-1")
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


async def test_a_live_project_is_deleted_only_after_its_show_ended(cluster: OperatedNamespace) -> None:
    async with cluster.operator():
        await cluster.collection()
        await cluster.project()
        await cluster.phase("Waiting")
        await cluster.client.delete(CUSTOM["Project"], cluster.namespace, "show")

        async def gone() -> bool:
            return await cluster.get("Project", "show") is None

        await until(gone, "the project is gone")


async def test_one_leads_and_the_other_takes_over(cluster: OperatedNamespace) -> None:
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


async def test_a_hundred_shows_get_a_hundred_pods(cluster: OperatedNamespace) -> None:
    await cluster.collection()
    spec = {"collectionId": "sunday", "broadcast": {"state": "Running", "id": "one"}}
    await asyncio.gather(*(cluster.create("Project", f"show-{n}", spec) for n in range(100)))
    async with cluster.operator():

        async def all_pods() -> bool:
            return len(await cluster.pods()) == 100

        await until(all_pods, "a hundred pods")
    async with cluster.operator():
        await cluster.create("Project", "show-100", spec)
        await cluster.pod("show-100-one-1")
        assert len(await cluster.pods()) == 101


async def test_a_foreign_secret_is_never_sent(cluster: OperatedNamespace) -> None:
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
