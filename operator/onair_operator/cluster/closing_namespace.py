"""Lets the projects of a namespace go that is being deleted, by an operator that has lost its rights there.

It can neither see their encoders nor end their streams any more; their pods are deleted with the namespace.
"""

from __future__ import annotations

import structlog

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.kube.apis import CUSTOM, NAMESPACES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import PROJECT

log = structlog.get_logger()


async def release_projects(client: KubeClient, namespace: str) -> None:
    """Removes our finalizer from the projects that wait for it, if their namespace is being deleted."""
    try:
        if not await _closing(client, namespace):
            return
        async for page in client.pages(CUSTOM[PROJECT], namespace):
            for project in page["items"]:
                await _release(client, namespace, project["metadata"])
    except ApiError as error:
        log.warning("projects.not-released", error=error.message)


async def _closing(client: KubeClient, namespace: str) -> bool:
    return "deletionTimestamp" in (await client.get(NAMESPACES, None, namespace))["metadata"]


async def _release(client: KubeClient, namespace: str, metadata: Document) -> None:
    finalizers = metadata.get("finalizers") or []
    if "deletionTimestamp" not in metadata or BROADCAST_FINALIZER not in finalizers:
        return
    others = [name for name in finalizers if name != BROADCAST_FINALIZER]
    patch = {"metadata": {"resourceVersion": metadata["resourceVersion"], "finalizers": others}}
    try:
        await client.merge_patch(CUSTOM[PROJECT], namespace, metadata["name"], patch)
    except ApiError as error:
        if not error.conflict and not error.not_found:
            raise
    else:
        log.warning("project.released", project=metadata["name"], reason="its namespace is being deleted")
