"""An Applier whose API server takes every write, unless a test says otherwise."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tests.support.documents import document
from tests.support.waiting import until
from tests.support.worlds import SETTINGS, run

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document, JsonPatch
from onair_operator.cluster.actions import Action, ResourceEvent
from onair_operator.cluster.apply import Applier
from onair_operator.cluster.queue import WorkQueue
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.encoder.pod_identity import OperatorKey


class RecordingApiServer:
    """Takes every write, gives each a new version, and remembers what was asked for."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, str, str]] = []
        """Plural, name and the resourceVersion that the write was made on."""
        self.metadata: list[Document] = []
        """What merge patches said."""
        self.deleted: list[str] = []
        self.deletions: list[tuple[str, str, Document]] = []
        """Namespace, name and options."""
        self.present: dict[str, Document] = {}
        self.existing: set[str] = set()
        """Plurals of which there is one of each name."""
        self.version = 100
        self.conflict = False
        self.refusal: ApiError | None = None
        self.no_right: set[str] = set()
        """Plurals whose status may not be written."""
        self.pruned: set[str] = set()
        """Fields of a status that its CRDs do not have."""
        self.attempts = 0
        """To write a status."""
        self.created: list[str] = []
        self.asked: list[str] = []
        """To create what, in the form of `created`."""
        self.hanging: dict[str, asyncio.Event] = {}
        """By plural: what is created takes until this is set."""

    async def create(self, api: Api, _: str, document: Document) -> Document:
        self.asked.append(f"{api.plural}/{document['metadata']['name']}")
        if hangs := self.hanging.get(api.plural):
            await hangs.wait()
        if api.plural == "pods" and self.refusal:
            raise self.refusal
        if api.plural in self.existing:
            raise ApiError(409, "AlreadyExists", "it exists")
        name = document["metadata"]["name"]
        self.created.append(f"{api.plural}/{name}")
        self.version += 1
        metadata = {**document["metadata"], "uid": f"uid-{name}", "resourceVersion": str(self.version)}
        return {**document, "metadata": metadata}

    def _written(self, api: Api, name: str, version: str, spec: Document) -> Document:
        if self.conflict:
            raise ApiError(409, "Conflict", "the object has been modified")
        self.writes.append((api.plural, name, version))
        self.version += 1
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(self.version)}
        return {"metadata": metadata, "spec": spec}

    async def json_patch(self, api: Api, _: str, name: str, operations: JsonPatch, __: str) -> Document:
        spec = {"collectionId": "sunday", "projectId": "show", "address": {}}
        self.attempts += 1
        if api.plural in self.no_right:
            message = f'User "operator" cannot patch resource "{api.plural}/status" in API group "onair.dev"'
            raise ApiError(403, "Forbidden", message)
        status = {field: value for field, value in operations[1]["value"].items() if field not in self.pruned}
        return {**self._written(api, name, operations[0]["value"], spec), "status": status}

    async def merge_patch(self, api: Api, _: str, name: str, patch: Document) -> Document:
        spec = {"collectionId": "sunday", "projectId": "show", "address": {}}
        self.metadata.append(patch["metadata"])
        return self._written(api, name, patch["metadata"]["resourceVersion"], spec)

    async def get(self, _: Api, __: str, name: str) -> Document:
        if name not in self.present:
            raise ApiError(404, "NotFound", "not found")
        return self.present[name]

    async def delete(self, api: Api, namespace: str, name: str, **options: Any) -> Document:
        self.deleted.append(name)
        self.deletions.append((namespace, name, options))
        raise ApiError(404, "NotFound", "not found")


class RecordedResourceEvents:
    def __init__(self) -> None:
        self.recorded: list[ResourceEvent] = []

    def record(self, event: ResourceEvent) -> None:
        self.recorded.append(event)


class ApplierSetting:
    def __init__(self) -> None:
        self.api, self.events, self.queue = RecordingApiServer(), RecordedResourceEvents(), WorkQueue()
        self.store = Store(KINDS)
        self.changes: list[Change] = []
        self.leads = True
        self.world = World(self.store, *cast(Any, (None, None, None)))
        self.applier = Applier(
            cast(Any, self.api),
            self.world,
            self.queue,
            self.changes.append,
            cast(Any, self.events),
            OperatorKey.generate(),
            SETTINGS,
            lambda: self.leads,
        )

    def claim(self, phase: str = "Waiting", epoch: int = 1, uid: str = "uid-show") -> None:
        """The project's record says this of its run."""
        show = document("show", {"collectionId": "sunday"}, uid=uid)
        self.store.update("Project", {**show, "status": {"broadcast": run(phase, epoch=epoch)}})

    async def carry_out(self, plan: list[Action], pod: str) -> None:
        """Carries a plan out, and waits for the end of the attempt to create this pod."""
        await self.applier.apply(plan)
        await until(lambda: pod not in self.world.creations)
