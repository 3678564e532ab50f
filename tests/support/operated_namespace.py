"""A namespace of a real API server with an operator. There is no kubelet: tests say what one would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.control_plane import free_port
from tests.support.waiting import until

from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.kube.apis import CUSTOM, EVENTS, PODS, SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION
from onair_crds.shapes import Document
from onair_operator.runtime import run
from onair_operator.settings import LeaderElectionSettings, OperatorSettings, RegionSettings


def settings_for(namespace: str) -> OperatorSettings:
    return OperatorSettings(
        show_namespace=namespace,
        release_namespace=namespace,
        regions=[RegionSettings(name="eu-central-1", latitude=50.1, longitude=8.7)],
        leader_election=LeaderElectionSettings(lease_duration_s=3.0, renew_interval_s=0.5),
        health_port=free_port(),
        resync_interval_s=5.0,
    )


class OperatedNamespace:
    """What a test does to the API server and sees of it."""

    def __init__(self, client: KubeClient, namespace: str, kubeconfig: Path) -> None:
        self.client, self.namespace, self.kubeconfig = client, namespace, kubeconfig

    @asynccontextmanager
    async def operator(self, **settings: Any) -> AsyncIterator[None]:
        """An operator; `settings` are over those of a test."""
        stop = asyncio.Event()
        given = settings_for(self.namespace).model_copy(update=settings)
        task = asyncio.create_task(run(given, stop, str(self.kubeconfig)))
        try:
            yield
        finally:
            stop.set()
            async with asyncio.timeout(10):
                await task

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

    async def project(self, state: str = "Running", name: str = "show", **spec: Any) -> Document:
        composition = {"external": {"url": "http://graphics.example/stage"}}
        return await self.create(
            "Project",
            name,
            {"collectionId": "sunday", "composition": composition, "broadcast": {"state": state}, **spec},
        )

    async def credentials(self, name: str, **values: str) -> Document:
        """Creates a Secret that destinations may refer to."""
        document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name},
            "type": CREDENTIALS_TYPE,
            "stringData": values,
        }
        return await self.client.create(SECRETS, self.namespace, document)

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

        return await until(check, f"phase {wanted}")

    async def ready(self, kind: str, name: str, reason: str) -> Document:
        async def check() -> Document | None:
            document = (await self.get(kind, name)) or {}
            conditions = document.get("status", {}).get("conditions", [])
            return next((c for c in conditions if c["type"] == "Ready" and c["reason"] == reason), None)

        return await until(check, f"{kind} {name} Ready with reason {reason}")

    async def pods(self) -> list[Document]:
        return (await self.client.list(PODS, self.namespace))["items"]  # type: ignore[no-any-return]

    async def pod(self, name: str) -> Document:
        async def check() -> Document | None:
            return next((p for p in await self.pods() if p["metadata"]["name"] == name), None)

        return await until(check, f"pod {name}")

    async def bind(self, name: str, node: str) -> None:
        """Gives a pod to a node, as the scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/binding"
        await self.client._request("POST", path, binding)

    async def pod_is(self, name: str, status: Document) -> None:
        """Says what a kubelet or the scheduler would say of a pod."""
        await self.client.merge_patch(PODS, self.namespace, name, {"status": status}, "status")

    async def events(self) -> list[str]:
        return [e["reason"] for e in (await self.client.list(EVENTS, self.namespace))["items"]]
