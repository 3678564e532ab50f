"""The operator on a real API server: shows from start to end, crashes, and two operators."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Any

import httpx
import pytest
import structlog
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.kube.apis import CUSTOM, LEASES, PODS, SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION
from onair_crds.shapes import Document
from onair_operator import runtime
from onair_operator.cluster.operator_key import NAME as OPERATOR_KEY


async def test_a_wanted_show_gets_one_pod_and_its_story(operated_namespace: OperatedNamespace) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        pod = await operated_namespace.pod("show-first-1")
        status = await operated_namespace.phase("Waiting")
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 1)

        async def adopted() -> Document | None:
            project = await operated_namespace.get("Project", "show")
            return project if project and project["metadata"].get("ownerReferences") else None

        project = await until(adopted, "the project is its collection's")
        assert project["metadata"]["finalizers"] == ["onair.dev/broadcast"]
        assert [o["kind"] for o in project["metadata"]["ownerReferences"]] == ["Collection"]
        assert pod["metadata"]["ownerReferences"][0]["uid"] == project["metadata"]["uid"]
        assert {each["manager"] for each in pod["metadata"]["managedFields"]} == {"onair-operator"}
        identity = await operated_namespace.client.get(SECRETS, operated_namespace.namespace, "show-first-1")
        assert set(identity["data"]) == {"tls.crt", "tls.key", "verify.pem", "snapshot.key"}

        async def story() -> bool:
            return "BroadcastRequested" in await operated_namespace.events()

        await until(story, "the event BroadcastRequested")
        assert len(await operated_namespace.pods()) == 1


async def test_a_full_cluster_is_taken_up_without_touching_what_runs(
    operated_namespace: OperatedNamespace,
) -> None:
    await operated_namespace.collection()
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
    async with operated_namespace.operator():
        pod = await operated_namespace.pod("show-first-1")
        await until(
            lambda: encoder_recorded(operated_namespace, pod["metadata"]["uid"]), "the encoder is recorded"
        )
    async with operated_namespace.operator():
        await operated_namespace.ready("Project", "show", "Waiting")
        await operated_namespace.create("Destination", "late", destination_spec())
        await operated_namespace.ready("Destination", "late", "Disconnected")
        (kept,) = await operated_namespace.pods()
        assert kept["metadata"]["uid"] == pod["metadata"]["uid"]
        assert "deletionTimestamp" not in kept["metadata"]


async def encoder_recorded(operated_namespace: OperatedNamespace, uid: str) -> bool:
    project = await operated_namespace.get("Project", "show")
    return bool(project and project.get("status", {}).get("broadcast", {}).get("encoder") == uid)


def destination_spec(**rtmp: Any) -> Document:
    return {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://media.example/live", **rtmp}}}


@pytest.mark.parametrize("data", [{}, {"private.pem": "bm8ga2V5"}], ids=["none", "no key"])
async def test_damaged_keys_are_told_and_an_operator_begins_as_far_as_it_can(
    operated_namespace: OperatedNamespace, data: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a backup without values."""
    monkeypatch.setattr(runtime, "PAGE_KEY_RETRY_S", 0.1)
    client, namespace = operated_namespace.client, operated_namespace.namespace
    for name in (OPERATOR_KEY, RENDERER_KEY_SECRET):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}
        await client.create(SECRETS, namespace, secret)
    await operated_namespace.collection()
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"})

    def told(logged: list[Any], event: str, name: str) -> bool:
        return any(each["event"] == event and name in each["error"] for each in logged)

    with structlog.testing.capture_logs() as logged:
        async with operated_namespace.operator():
            await until(lambda: told(logged, "start.waits", OPERATOR_KEY), "what it waits for is told")
            await client.delete(SECRETS, namespace, OPERATOR_KEY)
            await operated_namespace.pod("show-first-1")
            assert told(logged, "page_tokens.unavailable", RENDERER_KEY_SECRET)
            await client.delete(SECRETS, namespace, RENDERER_KEY_SECRET)

            async def made() -> bool:
                with contextlib.suppress(ApiError):
                    secret = await client.get(SECRETS, namespace, RENDERER_KEY_SECRET)
                    return set(secret["data"]) == {PRIVATE_PEM, PUBLIC_PEM}
                return False

            await until(made, "another key of pages is made")


async def test_a_crash_between_claim_and_pod_leads_to_one_pod(operated_namespace: OperatedNamespace) -> None:
    await operated_namespace.collection()
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
    claim = {
        "id": "first",
        "epoch": 1,
        "phase": "Waiting",
        "pod": "show-first-1",
        "claimed": "2026-01-01T00:00:00.000Z",
    }
    await operated_namespace.client.merge_patch(
        CUSTOM["Project"], operated_namespace.namespace, "show", {"status": {"broadcast": claim}}, "status"
    )
    async with operated_namespace.operator():
        pod = await operated_namespace.pod("show-first-1")
        await until(
            lambda: encoder_recorded(operated_namespace, pod["metadata"]["uid"]), "the encoder is recorded"
        )
        assert len(await operated_namespace.pods()) == 1


async def test_a_lost_pod_is_replaced_under_the_same_id(operated_namespace: OperatedNamespace) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        pod = await operated_namespace.pod("show-first-1")
        await until(
            lambda: encoder_recorded(operated_namespace, pod["metadata"]["uid"]), "the encoder is recorded"
        )
        await operated_namespace.client.delete(
            PODS, operated_namespace.namespace, "show-first-1", grace_period_s=0
        )
        await operated_namespace.pod("show-first-2")
        status = (await operated_namespace.get("Project", "show") or {})["status"]
        assert (status["broadcast"]["id"], status["broadcast"]["epoch"]) == ("first", 2)


async def test_stop_while_starting_and_no_second_run_of_the_same_id(
    operated_namespace: OperatedNamespace,
) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project()
        waiting = await operated_namespace.phase("Waiting")
        generated = waiting["broadcast"]["id"]
        await operated_namespace.pod(f"show-{generated}-1")
        await operated_namespace.patch("Project", "show", {"broadcast": {"state": "Stopped"}})
        await operated_namespace.phase("Stopped")

        async def no_pods() -> bool:
            return not [
                p for p in await operated_namespace.pods() if "deletionTimestamp" not in p["metadata"]
            ]

        async def let_go() -> bool:
            project = await operated_namespace.get("Project", "show")
            return project is not None and not project["metadata"].get("finalizers")

        await until(no_pods, "no pods")
        await until(let_go, "no finalizer")
        await operated_namespace.patch("Project", "show", {"broadcast": {"state": "Running"}})
        again = await operated_namespace.phase("Waiting")
        assert again["broadcast"]["id"] != generated
        assert again["previous"]["phase"] == "Archived"


async def test_children_may_come_before_their_parents(operated_namespace: OperatedNamespace) -> None:
    async with operated_namespace.operator():
        await operated_namespace.create("Destination", "main", destination_spec())
        await operated_namespace.ready("Destination", "main", "ProjectNotFound")
        await operated_namespace.project()
        condition = await operated_namespace.ready("Project", "show", "CollectionNotFound")
        assert condition["message"] == "Collection sunday does not exist"
        assert await operated_namespace.pods() == []
        await operated_namespace.collection()
        await operated_namespace.phase("Waiting")
        destination = await operated_namespace.get("Destination", "main")
        assert destination is not None
        assert [o["kind"] for o in destination["metadata"]["ownerReferences"]] == ["Project"]


async def test_a_source_becomes_its_collections_whichever_comes_first(
    operated_namespace: OperatedNamespace,
) -> None:
    source = {"collectionId": "sunday", "address": {"rtmpPush": {}}}

    async def owners(name: str) -> list[str]:
        found = await operated_namespace.get("Source", name)
        return [o["uid"] for o in (found or {}).get("metadata", {}).get("ownerReferences", [])]

    async with operated_namespace.operator():
        await operated_namespace.create("Source", "early", source)
        collection = await operated_namespace.collection()
        await operated_namespace.create("Source", "late", source)
        for name in ("early", "late"):
            assert await until(partial(owners, name), f"{name} is owned") == [collection["metadata"]["uid"]]


async def test_a_destination_says_when_its_project_is_gone(operated_namespace: OperatedNamespace) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project("Stopped")
        await operated_namespace.create("Destination", "main", destination_spec())
        await operated_namespace.ready("Destination", "main", "NotRunning")
        await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, "show")
        await operated_namespace.ready("Destination", "main", "ProjectNotFound")


async def test_scheduler_and_kubelet_troubles_become_reasons(operated_namespace: OperatedNamespace) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        await operated_namespace.pod("show-first-1")
        unschedulable = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/1 nodes are available: 1 Insufficient cpu.",
        }
        await operated_namespace.pod_is("show-first-1", {"conditions": [unschedulable]})
        condition = await operated_namespace.ready("Project", "show", "NoCapacity")
        assert "no node of region eu-central-1 has 0.8 CPU" in condition["message"]
        await operated_namespace.bind("show-first-1", "node-1")
        waiting = {"reason": "ImagePullBackOff", "message": "not found"}
        await operated_namespace.pod_is(
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
        condition = await operated_namespace.ready("Project", "show", "ImagePullFailed")
        assert condition["message"] == "onair/encoder:x: not found"
        await operated_namespace.phase("Starting")


async def test_a_live_project_is_deleted_only_after_its_show_ended(
    operated_namespace: OperatedNamespace,
) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project()
        await operated_namespace.phase("Waiting")
        await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, "show")

        async def gone() -> bool:
            return await operated_namespace.get("Project", "show") is None

        await until(gone, "the project is gone")


async def test_one_leads_and_the_other_takes_over(operated_namespace: OperatedNamespace) -> None:
    async with contextlib.AsyncExitStack() as second:
        async with operated_namespace.operator():
            await operated_namespace.collection()
            await operated_namespace.ready("Collection", "sunday", "Accepted")
            lease = await operated_namespace.client.get(
                LEASES, operated_namespace.namespace, "onair-operator"
            )
            # It begins after the first in the same loop: what ends the first must leave it alone.
            await second.enter_async_context(operated_namespace.operator())
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        await operated_namespace.pod("show-first-1")
        after = await operated_namespace.client.get(LEASES, operated_namespace.namespace, "onair-operator")
        assert after["spec"]["leaseTransitions"] == lease["spec"]["leaseTransitions"] + 1
        assert after["spec"]["holderIdentity"] != lease["spec"]["holderIdentity"]


async def test_a_hundred_shows_get_a_hundred_pods(operated_namespace: OperatedNamespace) -> None:
    await operated_namespace.collection()
    spec = {"collectionId": "sunday", "broadcast": {"state": "Running", "id": "one"}}
    await asyncio.gather(*(operated_namespace.create("Project", f"show-{n}", spec) for n in range(100)))
    async with operated_namespace.operator():

        async def all_pods() -> bool:
            return len(await operated_namespace.pods()) == 100

        await until(all_pods, "a hundred pods", 60, poll_s=0.25)
    async with operated_namespace.operator():
        await operated_namespace.create("Project", "show-100", spec)
        await operated_namespace.pod("show-100-one-1")
        assert len(await operated_namespace.pods()) == 101


async def test_a_foreign_secret_is_never_sent(operated_namespace: OperatedNamespace) -> None:
    foreign = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "admin"},
        "stringData": {"key": "hunter2"},
    }
    await operated_namespace.client.create(SECRETS, operated_namespace.namespace, foreign)
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project("Stopped")
        await operated_namespace.create(
            "Destination", "thief", destination_spec(keySecretRef={"name": "admin", "key": "key"})
        )
        condition = await operated_namespace.ready("Destination", "thief", "SecretNotAllowed")
        assert "onair.dev/credentials" in condition["message"]
        assert "hunter2" not in str(await operated_namespace.get("Destination", "thief"))


def deeply_nested(name: str) -> str:
    """A collection that the API server takes, as it follows 10,000 levels."""
    nested = "[" * 3000 + "]" * 3000
    owner = '{"serviceId": "studio", "serviceUserId": "eve"}'
    head = f'"apiVersion": "{API_VERSION}", "kind": "Collection", "metadata": {{"name": "{name}"}}'
    return f'{{{head}, "spec": {{"owner": {owner}, "metadata": {nested}}}}}'


async def test_an_object_nested_without_end_stops_neither_a_leader_nor_its_watches(
    operated_namespace: OperatedNamespace, admin: httpx.Client
) -> None:
    path = CUSTOM["Collection"].path(operated_namespace.namespace)
    await operated_namespace.collection()

    def store(name: str) -> None:
        headers = {"Content-Type": "application/json"}
        response = admin.post(path, content=deeply_nested(name), headers=headers)
        assert response.is_success, response.text

    store("before")
    async with operated_namespace.operator(resync_interval_s=600.0):
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        await operated_namespace.pod("show-first-1")
        await operated_namespace.ready("Collection", "before", "Accepted")
        store("while-it-watches")
        await operated_namespace.ready("Collection", "while-it-watches", "Accepted")
        owner = {"serviceId": "studio", "serviceUserId": "ann"}
        await operated_namespace.create("Collection", "after", {"owner": owner})
        await operated_namespace.ready("Collection", "after", "Accepted")
