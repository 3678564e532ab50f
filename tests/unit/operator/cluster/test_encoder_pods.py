"""Encoder pods are created in the background: one that hangs holds up nobody, and refusals are known."""

from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.support.applier import ApplierSetting, RecordedResourceEvents, RecordingApiServer
from tests.support.documents import document
from tests.support.waiting import until
from tests.support.worlds import SETTINGS, destination, project

from onair_crds.contract.labels import BROADCAST_FINALIZER, PROJECT_LABEL
from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError, ApiUnavailable, ApiUnreachable
from onair_crds.kube.store import Store
from onair_crds.resources.destination import DestinationStatus
from onair_crds.shapes import Document, JsonPatch
from onair_operator.cluster.actions import Action, CreatePod, ResourceEvent, WriteStatus
from onair_operator.cluster.apply import Applier
from onair_operator.cluster.node_leases import NodeLeases
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import PodRefusal, World
from onair_operator.encoder.fleet import Fleet
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.reconcile import WORKERS, ReconcileLoop
from onair_operator.room.providers import RtcProviders

POD = "show-run-1"
SHOW = Key("Project", "show")
CREATION: list[Action] = [CreatePod(POD, project(), "run", 1)]
NO_RIGHT = ApiError(403, "Forbidden", 'User "operator" cannot create resource "pods" in API group ""')
REFUSALS = [
    (ApiError(400, "BadRequest", "no"), PodRefusal(POD, "no")),
    (
        ApiError(403, "Forbidden", "exceeded quota: shows"),
        PodRefusal(POD, "exceeded quota: shows", quota=True),
    ),
    (ApiError(403, "Forbidden", "a policy"), PodRefusal(POD, "a policy")),
    (
        ApiError(404, "NotFound", 'namespaces "shows" not found'),
        PodRefusal(POD, 'namespaces "shows" not found'),
    ),
    (ApiError(409, "Conflict", "of the quota"), PodRefusal(POD, "of the quota", transient=True)),
    (ApiError(413, "RequestEntityTooLarge", "too large"), PodRefusal(POD, "too large")),
    (ApiError(422, "Invalid", "no such field"), PodRefusal(POD, "no such field")),
    (ApiUnavailable(429, "TooManyRequests", "later"), PodRefusal(POD, "later", transient=True)),
    (ApiUnavailable(500, "InternalError", "webhook"), PodRefusal(POD, "webhook", transient=True)),
    (ApiUnavailable(504, "", ""), PodRefusal(POD, "HTTP 504", transient=True)),
    (
        ApiUnreachable(503, "ServiceUnavailable", "no response in time"),
        PodRefusal(POD, "no response in time", transient=True, unanswered=True),
    ),
]


@pytest.fixture
def setting() -> ApplierSetting:
    setting = ApplierSetting()
    setting.claim()
    return setting


class StoredApiServer(RecordingApiServer):
    """Has what the store has, and its writes change that."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    def _changed(self, name: str) -> Document:
        entry = self._store.entry("Project", name)
        assert entry
        self.writes.append(("projects", name, str(entry.version)))
        changed = copy.deepcopy(entry.document)
        changed["metadata"]["resourceVersion"] = str(entry.version + 1)
        return changed

    async def json_patch(self, api: Api, _: str, name: str, operations: JsonPatch, __: str) -> Document:
        return {**self._changed(name), "status": operations[1]["value"]}

    async def merge_patch(self, api: Api, _: str, name: str, patch: Document) -> Document:
        changed = self._changed(name)
        changed["metadata"]["finalizers"] = patch["metadata"]["finalizers"]
        return changed


class HangingInstallation:
    """A whole reconcile loop, and an API server that does not respond where a pod is to be created."""

    def __init__(self) -> None:
        self.store, self.queue = Store(KINDS), WorkQueue()
        self.store.update(
            "Collection", document("sunday", {"owner": {"serviceId": "s", "serviceUserId": "u"}})
        )
        self.api = StoredApiServer(self.store)
        self.go = self.api.hanging["pods"] = asyncio.Event()
        key = OperatorKey.generate()
        fleet = Fleet(key, lambda _: None)
        self.world = World(self.store, fleet, NodeLeases(cast(Any, None)), RtcProviders(SETTINGS.rtc))
        self.loop = ReconcileLoop(self.store, self.queue, SETTINGS)
        applier = Applier(
            cast(Any, self.api),
            self.world,
            self.queue,
            self.loop.changed,
            cast(Any, RecordedResourceEvents()),
            key,
            SETTINGS,
            lambda: True,
        )
        self.running = asyncio.create_task(self.loop.run(self.world, applier, cast(Any, None)))

    def want(self, name: str) -> None:
        """Has a show be started."""
        spec = {
            "collectionId": "sunday",
            "composition": {"external": {"url": "https://graphics.example/stage"}},
            "broadcast": {"state": "Running", "id": "run"},
        }
        change = self.store.update("Project", document(name, spec, ownerReferences=[{"uid": "uid-sunday"}]))
        assert change
        self.loop.changed(change)

    def creations(self) -> list[str]:
        """The pods that the API server was asked to create."""
        return [each.removeprefix("pods/") for each in self.api.asked if each.startswith("pods/")]

    def phase(self, name: str) -> object:
        entry = self.store.entry("Project", name)
        return entry and (entry.status.get("broadcast") or {}).get("phase")

    async def end(self) -> None:
        """Ends the term."""
        self.running.cancel()
        with suppress(asyncio.CancelledError):
            await self.running


async def test_pods_whose_creation_hangs_hold_up_no_other_project() -> None:
    installation = HangingInstallation()
    for number in range(2 * WORKERS):
        installation.want(f"hangs-{number}")
    await until(lambda: len(installation.creations()) >= WORKERS)
    installation.want("other")
    await until(lambda: installation.phase("other") == "Waiting", "another project is decided")
    entry = installation.store.entry("Project", "other")
    assert entry
    stopped = {**entry.spec, "broadcast": {"state": "Stopped", "id": "run"}}
    stop = installation.store.update(
        "Project",
        {
            **entry.document,
            "metadata": {**entry.metadata, "resourceVersion": str(entry.version + 1)},
            "spec": stopped,
        },
    )
    assert stop
    installation.loop.changed(stop)
    await until(lambda: installation.phase("other") == "Stopped", "and so is its stop")
    assert len(set(installation.creations())) == len(installation.creations()), "none twice at a time"
    await installation.end()


async def test_a_pod_is_created_once_however_often_its_project_is_looked_at_meanwhile() -> None:
    installation = HangingInstallation()
    installation.want("show")
    await until(lambda: installation.creations() == [POD])
    for number in range(3):
        entry = installation.store.entry("Project", "show")
        assert entry
        seen = len(installation.api.writes)
        metadata = {
            **entry.metadata,
            "resourceVersion": str(entry.version + 1),
            "generation": number + 2,
            "finalizers": [BROADCAST_FINALIZER],
        }
        change = installation.store.update("Project", {**entry.document, "metadata": metadata})
        assert change
        installation.loop.changed(change)
        await until(lambda seen=seen: len(installation.api.writes) > seen, "it is looked at")  # type: ignore[misc]
    assert installation.creations() == [POD]
    installation.go.set()
    await until(lambda: installation.store.entry("Pod", POD))
    await until(lambda: POD not in installation.world.creations)
    assert installation.creations() == [POD]
    await installation.end()


async def test_no_pod_is_created_beyond_the_term() -> None:
    installation = HangingInstallation()
    hangs = installation.api.hanging["secrets"] = asyncio.Event()
    installation.want("show")
    await until(lambda: installation.api.asked == [f"secrets/{POD}"])
    await installation.end()
    hangs.set()
    await until(lambda: POD not in installation.world.creations)
    assert installation.creations() == []


async def test_no_pod_is_created_once_the_lease_may_be_over(setting: ApplierSetting) -> None:
    hangs = setting.api.hanging["secrets"] = asyncio.Event()
    await setting.applier.apply(CREATION)
    await until(lambda: setting.api.asked == [f"secrets/{POD}"])
    setting.leads = False
    hangs.set()
    await until(lambda: POD not in setting.world.creations)
    assert setting.api.created == [f"secrets/{POD}"]
    assert await setting.queue.take() == SHOW, "the next look sees whether this process leads"


@pytest.mark.parametrize(
    "claim", [("Stopping", 1), ("Stopped", 1), ("Starting", 2), ("Waiting", 1, "uid-of-the-next")]
)
async def test_no_pod_is_created_for_a_claim_that_has_ended(
    setting: ApplierSetting, claim: tuple[Any, ...]
) -> None:
    hangs = setting.api.hanging["secrets"] = asyncio.Event()
    await setting.applier.apply(CREATION)
    await until(lambda: setting.api.asked == [f"secrets/{POD}"])
    setting.claim(*claim)
    hangs.set()
    await until(lambda: POD not in setting.world.creations)
    assert setting.api.created == [f"secrets/{POD}"]


async def test_nothing_is_noted_of_a_project_that_is_gone(setting: ApplierSetting) -> None:
    hangs = setting.api.hanging["pods"] = asyncio.Event()
    setting.api.refusal = NO_RIGHT
    await setting.applier.apply(CREATION)
    await until(lambda: f"pods/{POD}" in setting.api.asked)
    setting.store.remove("Project", "show", "uid-show")
    hangs.set()
    await until(lambda: POD not in setting.world.creations)
    assert (setting.world.refusals, setting.events.recorded) == ({}, [])


@pytest.mark.parametrize(("error", "refusal"), REFUSALS, ids=[f"{e.status} {e.message}" for e, _ in REFUSALS])
async def test_a_pod_that_is_not_created_is_known_as_refused_until_it_is(
    setting: ApplierSetting, error: ApiError, refusal: PodRefusal
) -> None:
    setting.api.refusal = error
    for times in (1, 2):
        await setting.carry_out(CREATION, POD)
        assert setting.world.refusals == {"show": replace(refusal, times=times)}
        assert await setting.queue.take() == SHOW, "it is tried again"
        setting.queue.done(SHOW)
    setting.api.refusal = None
    await setting.carry_out(CREATION, POD)
    assert setting.world.refusals == {}
    assert setting.api.created == [*(3 * [f"secrets/{POD}"]), f"pods/{POD}"]


async def test_pauses_between_attempts_grow_up_to_that_of_any_other_failure(setting: ApplierSetting) -> None:
    waits: list[float] = []
    cast(Any, setting.queue).add_after = lambda _, delay_s: waits.append(delay_s)
    setting.api.refusal = ApiUnreachable(503, "ServiceUnavailable", "no response in time")
    for _ in range(10):
        await setting.carry_out(CREATION, POD)
    assert waits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]


async def test_a_right_that_is_missing_is_told_once(setting: ApplierSetting) -> None:
    setting.api.refusal = NO_RIGHT
    for _ in range(3):
        await setting.carry_out(CREATION, POD)
    (event,) = setting.events.recorded
    assert (event.resource.name, event.reason) == ("show", "Forbidden")
    assert NO_RIGHT.message in event.message


async def test_a_pod_of_the_name_that_is_another_projects_is_told(setting: ApplierSetting) -> None:
    setting.api.refusal = ApiError(409, "AlreadyExists", f'pods "{POD}" already exists')
    setting.api.present[POD] = document(POD, labels={"onair.dev/project": "another"})
    await setting.carry_out(CREATION, POD)
    assert setting.world.refusals["show"].told


async def test_an_api_server_that_does_not_know_us_refuses_no_pod(setting: ApplierSetting) -> None:
    setting.api.refusal = ApiError(401, "Unauthorized", "who are you?")
    await setting.carry_out(CREATION, POD)
    assert setting.world.refusals == {}
    assert await setting.queue.take() == SHOW, "it is tried again"


async def test_a_refused_pod_voids_nothing_of_a_plan(setting: ApplierSetting) -> None:
    setting.api.refusal = ApiError(403, "Forbidden", "exceeded quota: shows")
    event = ResourceEvent(project(), "PodRefused", "told", warning=True)
    await setting.carry_out([*CREATION, WriteStatus(destination(), DestinationStatus()), event], POD)
    assert setting.api.writes == [("destinations", "main", "5")]
    assert setting.events.recorded == [event]
    assert "show" in setting.world.refusals


@pytest.mark.parametrize("owner", ["its own project", "an earlier one of the name"])
async def test_an_identity_is_taken_that_was_made_before_a_crash_and_no_earlier_projects(
    setting: ApplierSetting, owner: str
) -> None:
    """The garbage collector is about to delete that one, and the show would have none."""
    uid = project().uid if owner == "its own project" else "uid-of-the-former"
    metadata = {
        "name": POD,
        "uid": "uid-identity",
        "resourceVersion": "50",
        "labels": {PROJECT_LABEL: "show"},
        "ownerReferences": [{"uid": uid}],
    }
    setting.api.present[POD] = {"kind": "Secret", "metadata": metadata}
    setting.api.existing.add("secrets")
    await setting.carry_out(CREATION, POD)
    if owner == "its own project":
        assert setting.api.created == [f"pods/{POD}"]
    else:
        assert setting.api.created == []
        assert "exists" in setting.world.refusals["show"].message
