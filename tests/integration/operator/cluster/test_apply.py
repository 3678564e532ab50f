"""Writes that a real API server refuses, and what becomes of them."""

from __future__ import annotations

from contextlib import suppress

from tests.support.control_plane import ControlPlane
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.kube.apis import EVENTS, PODS, SECRETS, Api
from onair_crds.kube.errors import ApiError


async def test_a_quota_that_forbids_the_pod_is_told_and_the_show_starts_once_it_is_lifted(
    operated_namespace: OperatedNamespace,
) -> None:
    quotas = Api("/api/v1", "resourcequotas")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-pods"}}
    limits = {"hard": {"pods": "0"}, "used": {"pods": "0"}}
    await operated_namespace.client.create(
        quotas, operated_namespace.namespace, {**quota, "spec": {"hard": limits["hard"]}}
    )
    # What the controller of quotas does
    await operated_namespace.client.merge_patch(
        quotas, operated_namespace.namespace, "no-pods", {"status": limits}, "status"
    )
    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        condition = await operated_namespace.ready("Project", "show", "PodRefused")
        assert "exceeded quota: no-pods" in condition["message"]
        await operated_namespace.client.delete(quotas, operated_namespace.namespace, "no-pods")
        await operated_namespace.pod("show-first-1")
        await operated_namespace.ready("Project", "show", "Waiting")


async def test_a_webhook_that_fails_is_told_and_the_show_starts_once_it_is_gone(
    operated_namespace: OperatedNamespace,
) -> None:
    webhooks = Api(
        "/apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", namespaced=False
    )
    name = f"fails-in-{operated_namespace.namespace}"
    webhook = {
        "name": "pods.policy.example",
        "clientConfig": {"url": "https://127.0.0.1:1/", "caBundle": ""},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": operated_namespace.namespace}},
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        ],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    document = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    await operated_namespace.client.create(
        webhooks, None, {**document, "metadata": {"name": name}, "webhooks": [webhook]}
    )
    try:
        async with operated_namespace.operator():
            await operated_namespace.collection()
            await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
            condition = await operated_namespace.ready("Project", "show", "PodRefused")
            assert "failed calling webhook" in condition["message"]
            await operated_namespace.client.delete(webhooks, None, name)
            await operated_namespace.pod("show-first-1")
            await operated_namespace.ready("Project", "show", "Waiting")
    finally:
        with suppress(ApiError):
            await operated_namespace.client.delete(webhooks, None, name)


async def test_an_identity_goes_with_its_pod_whoever_deletes_that(
    operated_namespace: OperatedNamespace,
) -> None:
    async def identities() -> list[str]:
        secrets = await operated_namespace.client.list(SECRETS, operated_namespace.namespace)
        return [s["metadata"]["name"] for s in secrets["items"] if s["type"] == "onair.dev/encoder-identity"]

    async def of_the_second_alone() -> bool:
        return await identities() == ["show-first-2"]

    async with operated_namespace.operator():
        await operated_namespace.collection()
        await operated_namespace.project(broadcast={"state": "Running", "id": "first"})
        await operated_namespace.pod("show-first-1")

        async def recorded() -> bool:
            project = await operated_namespace.get("Project", "show")
            return bool(project and project.get("status", {}).get("broadcast", {}).get("encoder"))

        await until(recorded, "the encoder is recorded")
        await operated_namespace.client.delete(
            PODS, operated_namespace.namespace, "show-first-1", grace_period_s=0
        )
        await operated_namespace.pod("show-first-2")
        await until(of_the_second_alone, "one identity")


async def test_two_runs_whose_names_run_together_have_pods_of_their_own(
    operated_namespace: OperatedNamespace,
) -> None:
    async with operated_namespace.operator():
        await operated_namespace.collection()
        for project, broadcast in (("a-b", "c"), ("a", "b-c")):
            spec = {"collectionId": "sunday", "broadcast": {"state": "Running", "id": broadcast}}
            await operated_namespace.create("Project", project, spec)
        await operated_namespace.pod("a-b-c-1")
        await operated_namespace.pod("a-b--c-1")


RBAC = "/apis/rbac.authorization.k8s.io/v1"


async def test_a_missing_right_to_write_the_status_of_projects_is_told_once_and_harms_nothing_else(
    operated_namespace: OperatedNamespace, control_plane: ControlPlane
) -> None:
    user = f"limited-{operated_namespace.namespace}"
    limited = OperatedNamespace(
        operated_namespace.client, operated_namespace.namespace, control_plane.kubeconfig_for(user)
    )
    names = ("collections", "projects", "sources", "destinations", "layouts")
    statuses = [f"{name}/status" for name in names if name != "projects"]
    groups = ["", "coordination.k8s.io"]
    rules = [
        {"apiGroups": groups, "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["onair.dev"], "resources": [*names, *statuses], "verbs": ["*"]},
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": user}}
    roles, bindings = (Api(RBAC, name, namespaced=False) for name in ("clusterroles", "clusterrolebindings"))
    await operated_namespace.client.create(roles, None, {**role, "rules": rules})
    binding = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    await operated_namespace.client.create(bindings, None, binding)
    await operated_namespace.collection()
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"})

    async def recorded() -> bool:
        show = (await operated_namespace.get("Project", "show")) or {}
        return "encoder" in ((show.get("status") or {}).get("broadcast") or {})

    async with operated_namespace.operator():
        await until(recorded, "the encoder is recorded")
    async with limited.operator():
        address = {"rtmpPush": {"url": "rtmp://media.example/live"}}
        await operated_namespace.create("Destination", "main", {"projectId": "show", "address": address})
        await operated_namespace.ready("Destination", "main", "Disconnected")

        async def told() -> list[int]:
            events = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))["items"]
            return [each["count"] for each in events if each["reason"] == "Forbidden"]

        assert await until(told, "an Event") == [1]
        await operated_namespace.patch("Project", "show", {"metadata": "looked at again"})
        await operated_namespace.client.merge_patch(
            roles, None, user, {"rules": [*rules, {**rules[1], "resources": ["projects/status"]}]}
        )

        async def counted() -> bool:
            show = await operated_namespace.get("Project", "show")
            return bool(show and show["status"]["destinations"]["total"] == 1)

        await until(counted, "the status is written")
        assert await told() == [1]
        assert len(await operated_namespace.pods()) == 1
