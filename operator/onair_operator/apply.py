"""Carries a plan out: the only place where the operator writes."""

from __future__ import annotations

import datetime as dt

import structlog

from onair_crds.contract.labels import BROADCAST_FINALIZER, PROJECT_LABEL
from onair_crds.contract.owners import owner_reference
from onair_crds.kube.apis import CUSTOM, PODS, SECRETS, Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_operator import actions
from onair_operator.encoder_client import EncoderUnreachable, ProgramRefused
from onair_operator.fleet import Fleet
from onair_operator.identity import OperatorKey, pod_identity
from onair_operator.pods import encoder_pod, identity_secret
from onair_operator.recorder import Recorder
from onair_operator.settings import OperatorSettings
from onair_operator.store import Store
from onair_operator.work_queue import WorkQueue

log = structlog.get_logger()

PUSH_RETRY_S = 0.1


class Applier:
    """Carries out plans of projects in one namespace."""

    def __init__(
        self,
        client: KubeClient,
        store: Store,
        fleet: Fleet,
        recorder: Recorder,
        queue: WorkQueue,
        key: OperatorKey,
        settings: OperatorSettings,
    ) -> None:
        self._client = client
        self._store = store
        self._fleet = fleet
        self._recorder = recorder
        self._queue = queue
        self._key = key
        self._settings = settings
        self._namespace = settings.show_namespace

    async def apply(self, project: Project, plan: list[actions.Action]) -> None:
        """Carries the actions out in order.

        Raises:
            ApiError: a write was refused, as by a conflict; the rest of the plan is void.
        """
        version = project.resource_version
        for action in plan:
            match action:
                case actions.SetFinalizer():
                    version = await self._set_finalizer(project, version, present=action.present)
                case actions.WriteStatus():
                    version = await self._write_status(project, version, action)
                case actions.CreatePod():
                    await self._create_pod(project, action)
                case actions.DeletePod():
                    await self._delete(PODS, "Pod", action.name, action.uid, action.grace_s)
                    await self._delete(SECRETS, "Secret", action.name)
                case actions.PushProgram():
                    await self._push(project, action)
                case actions.WriteDestinationStatus():
                    await self.write_status(
                        "Destination", action.name, action.resource_version, action.status.manifest()
                    )
                case actions.Adopt():
                    await self.adopt(action)
                case actions.AdoptSecret():
                    owner = owner_reference(action.owner.kind, action.owner.name, action.owner.uid)
                    await self._own(SECRETS, "Secret", action.name, owner, None)
                case actions.DeleteSecret():
                    await self.delete_secret(action.name, action.uid)
                case actions.Event():
                    self._recorder.record(project, action)
                case actions.Requeue():
                    self._queue.add_after(f"project/{project.name}", action.after_s)

    async def _set_finalizer(self, project: Project, version: str, *, present: bool) -> str:
        finalizers = [f for f in project.finalizers if f != BROADCAST_FINALIZER]
        if present:
            finalizers.append(BROADCAST_FINALIZER)
        patch = {"metadata": {"resourceVersion": version, "finalizers": finalizers}}
        return self._took(
            "Project", await self._client.merge_patch(CUSTOM["Project"], self._namespace, project.name, patch)
        )

    async def _write_status(self, project: Project, version: str, action: actions.WriteStatus) -> str:
        before = project.status.broadcast
        after = action.status.broadcast
        if after and (before is None or before.phase is not after.phase or before.epoch != after.epoch):
            log.info(
                "broadcast.phase",
                project=project.name,
                broadcast=after.id,
                epoch=after.epoch,
                phase=str(after.phase),
            )
        return await self.write_status("Project", project.name, version, action.status.manifest())

    async def write_status(self, kind: str, name: str, version: str, status: Document) -> str:
        """Replaces a status as a compare-and-swap; gives the new resourceVersion."""
        operations: list[Document] = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": "/status", "value": status},
        ]
        return self._took(
            kind, await self._client.json_patch(CUSTOM[kind], self._namespace, name, operations, "status")
        )

    def _took(self, kind: str, document: Document) -> str:
        """Takes a write's response into the store and looks again: its echo will be no news."""
        if self._store.put(kind, document):
            for key in self._store.keys_of(kind, document):
                self._queue.add(key)
        return str(document["metadata"]["resourceVersion"])

    async def _create_pod(self, project: Project, action: actions.CreatePod) -> None:
        identity = identity_secret(
            project, action.broadcast, action.epoch, pod_identity(self._key, dt.datetime.now(dt.UTC))
        )
        await self._create(SECRETS, "Secret", identity)
        pod = encoder_pod(project, action.broadcast, action.epoch, self._settings, action.avoid)
        await self._create(PODS, "Pod", pod)
        log.info("pod.created", project=project.name, broadcast=action.broadcast, epoch=action.epoch)

    async def _create(self, api: Api, kind: str, document: Document) -> None:
        name = document["metadata"]["name"]
        try:
            created = await self._client.create(api, self._namespace, document)
        except ApiError as error:
            if not error.already_exists:
                raise
            # Made before a crash, by us: its name says for which run and epoch.
            created = await self._client.get(api, self._namespace, name)
            labels = created["metadata"].get("labels") or {}
            if labels.get(PROJECT_LABEL) != document["metadata"]["labels"][PROJECT_LABEL]:
                raise
        self._took(kind, created)

    async def _delete(
        self, api: Api, kind: str, name: str, uid: str | None = None, grace_s: int | None = None
    ) -> None:
        try:
            deleted = await self._client.delete(api, self._namespace, name, uid=uid, grace_period_s=grace_s)
        except ApiError as error:
            if not error.not_found and not error.conflict:
                raise
            if uid:
                self._store.remove(kind, name, uid)
            return
        if deleted.get("kind") == kind and "deletionTimestamp" in deleted["metadata"]:
            self._took(kind, deleted)

    async def delete_secret(self, name: str, uid: str) -> None:
        await self._delete(SECRETS, "Secret", name, uid)

    async def _push(self, project: Project, action: actions.PushProgram) -> None:
        follower = self._fleet.follower(action.pod_uid)
        if follower is None:
            return
        try:
            await follower.push(action.program)
        except EncoderUnreachable as error:
            log.debug("program.not-pushed", pod=follower.pod.name, error=str(error))
            self._queue.add_after(f"project/{project.name}", PUSH_RETRY_S)
        except ProgramRefused as error:
            log.warning("program.refused", pod=follower.pod.name, error=str(error))

    async def adopt(self, action: actions.Adopt) -> None:
        """Adds an owner reference to a custom resource."""
        child, parent = action.child, action.owner
        owner = owner_reference(parent.kind, parent.name, parent.uid)
        await self._own(CUSTOM[child.kind], child.kind, child.name, owner, child.resource_version)

    async def _own(self, api: Api, kind: str, name: str, owner: Document, version: str | None) -> None:
        entry = self._store.get(kind, name)
        present = (entry.document["metadata"].get("ownerReferences") or []) if entry else []
        metadata: Document = {"ownerReferences": [*present, owner]}
        if version or entry:
            metadata["resourceVersion"] = str(entry.version) if entry else version
        self._took(kind, await self._client.merge_patch(api, self._namespace, name, {"metadata": metadata}))
