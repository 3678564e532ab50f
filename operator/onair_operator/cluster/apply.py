"""Carries plans out: with `encoder_pods` and `source_actions`, the only place where the operator writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from onair_crds.contract.owners import other_owners, owner_reference
from onair_crds.kube.apis import CUSTOM, PODS, SECRETS, Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Entry
from onair_crds.resources.base import Resource
from onair_crds.resources.project import Project, ProjectStatus
from onair_crds.shapes import Document, JsonPatch
from onair_operator.cluster import actions
from onair_operator.cluster.encoder_pods import EncoderPods
from onair_operator.cluster.event_recorder import EventRecorder
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.lease import LeaseExpired
from onair_operator.cluster.pruned_fields import PrunedFields
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.show_metrics import record_time_to_air, record_triggers
from onair_operator.cluster.source_actions import SourceActions
from onair_operator.cluster.watched_kinds import BY_ROOM, MADE_FOR, POD, PROJECT, SECRET, SOURCE, secrets_of
from onair_operator.cluster.world import World
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.settings import OperatorSettings

log = structlog.get_logger()


class Applier:
    """Carries out plans for resources of one namespace."""

    def __init__(
        self,
        client: KubeClient,
        world: World,
        queue: WorkQueue,
        changed: Callable[[Change], None],
        recorder: EventRecorder,
        key: OperatorKey,
        settings: OperatorSettings,
        leads: Callable[[], bool],
    ) -> None:
        """
        Args:
            changed: called with what the responses to writes changed in the store.
            leads: whether this process may act at the moment.
        """
        self._client = client
        self._world = world
        self._queue = queue
        self._changed = changed
        self._recorder = recorder
        self._leads = leads
        self._pruned = PrunedFields()
        self._namespace = settings.show_namespace
        self._release_namespace = settings.release_namespace
        self._pods = EncoderPods(client, world, queue, self._take, self.tell, key, settings, leads)
        self._sources = SourceActions(client, world, self._namespace, self._take)

    async def apply(self, plan: list[actions.Action]) -> None:
        """Carries the actions out in order.

        Raises:
            ApiError: a write was refused, as by a conflict; the rest of the plan is void. It is not where the
                right is missing to write a status that only informs: that is for people, and shows go on.
            LeaseExpired: so is it where this process does not lead any more.
        """
        written: dict[str, str] = {}
        """resourceVersions by uid, as this plan's own writes left them."""
        forbidden: dict[str, ApiError] = {}
        """By the kind of resources whose status may not be written."""
        for action in plan:
            if not self._leads():
                raise LeaseExpired("the Lease was not renewed in time")
            if forbidden and isinstance(action, actions.ResourceEvent):
                continue  # it would be reported at each attempt
            if isinstance(action, actions.WriteStatus) and action.only_tells:
                await self._write_if_allowed(action, written, forbidden)
            elif isinstance(action, actions.CreatePod):
                self._pods.create(action)
            else:
                await self._carry_out(action, written)
        for error in forbidden.values():
            raise error

    async def _write_if_allowed(
        self, action: actions.WriteStatus, written: dict[str, str], forbidden: dict[str, ApiError]
    ) -> None:
        kind = action.resource.kind
        if kind in forbidden:
            return
        try:
            await self._carry_out(action, written)
        except ApiError as error:
            if not error.lacks_right:
                raise
            forbidden[kind] = error

    def tell(self, event: actions.ResourceEvent) -> None:
        """Records an Event that is of no plan."""
        self._recorder.record(event)

    async def _carry_out(self, action: actions.Action, written: dict[str, str]) -> None:
        match action:
            case actions.SetFinalizer() | actions.WriteStatus():
                resource = action.resource
                version = written.get(resource.uid, resource.resource_version)
                with _noted(resource.kind, resource.name):
                    written[resource.uid] = await self._swap(action, version)
            case actions.DeletePod():
                await self._delete(PODS, POD, action.name, action.uid, action.grace_s)
            case actions.FollowEncoder() | actions.DropEncoder() | actions.PushProgram():
                self._steer_encoder(action)
            case actions.Adopt() | actions.Disown() | actions.AdoptSecret():
                await self._change_owners(action)
            case actions.DeleteSecret():
                await self._delete_secret(action)
            case actions.CreateStreamKey() | actions.CutOff() | actions.WantPulls() | actions.ShowPreviews():
                await self._sources.carry_out(action)
            case actions.ClaimStreams():
                present = self._world.store.entry(PROJECT, action.project)
                for project in self._world.streams.claim(action.project, action.streams if present else {}):
                    self._queue.add(Key(PROJECT, project))
            case actions.KeepRoom():
                self._world.rooms.keep(action.room, action.wanted)
                # Its project may have gone while this plan waited for a write, when nothing was kept yet
                if action.wanted and not self._world.store.select(PROJECT, BY_ROOM, action.room):
                    self._world.rooms.drop(action.room, action.wanted.project)
            case actions.MarkNode():
                self._world.nodes.mark(action.name, dead=action.dead)
            case actions.DeleteIngestPod():
                await self._delete_ingest_pod(action.pod)
            case actions.ResourceEvent():
                self._recorder.record(action)
            case actions.Requeue():
                self._queue.add_after(action.key, action.after_s)

    def _steer_encoder(
        self, action: actions.FollowEncoder | actions.DropEncoder | actions.PushProgram
    ) -> None:
        fleet = self._world.fleet
        match action:
            case actions.FollowEncoder() if not self._world.store.entry(POD, action.pod.name):
                pass  # it has gone while this plan waited for a write
            case actions.FollowEncoder():
                said = {"replaced": action.replaced, "stopped": action.stopped}
                fleet.follow(action.project, action.pod, action.certificate_pem, **said)
            case actions.DropEncoder():
                fleet.drop(action.pod_uid)
            case actions.PushProgram():
                if client := fleet.client(action.pod_uid):
                    client.push.want(action.program)

    async def _swap(self, action: actions.SetFinalizer | actions.WriteStatus, version: str) -> str:
        """Writes a part of a resource as a compare-and-swap; gives the new resourceVersion."""
        if isinstance(action, actions.SetFinalizer):
            return await self._set_finalizer(action, version)
        status = action.status.manifest()
        operations: JsonPatch = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": "/status", "value": status},
        ]
        kind, name = action.resource.kind, action.resource.name
        response = await self._client.json_patch(CUSTOM[kind], self._namespace, name, operations, "status")
        self._pruned.compare(kind, status, response.get("status"))
        _note_transition(action)
        return self._take(kind, response)

    async def _set_finalizer(self, action: actions.SetFinalizer, version: str) -> str:
        resource = action.resource
        finalizers = [name for name in resource.finalizers if name != action.finalizer]
        if action.present:
            finalizers.append(action.finalizer)
        patch = {"metadata": {"resourceVersion": version, "finalizers": finalizers}}
        api = CUSTOM[resource.kind]
        return self._take(
            resource.kind, await self._client.merge_patch(api, self._namespace, resource.name, patch)
        )

    def _take(self, kind: str, document: Document) -> str:
        """Takes a write's response into the store and looks again: its echo will be no news."""
        if change := self._world.store.update(kind, document):
            self._changed(change)
        return str(document["metadata"]["resourceVersion"])

    async def _delete(
        self, api: Api, kind: str, name: str, uid: str | None = None, grace_s: int | None = None
    ) -> None:
        try:
            deleted = await self._client.delete(api, self._namespace, name, uid=uid, grace_period_s=grace_s)
        except ApiError as error:
            if not error.not_found and not error.conflict:
                raise
            if uid and (change := self._world.store.remove(kind, name, uid)):
                self._changed(change)
            return
        if deleted.get("kind") == kind and "deletionTimestamp" in deleted["metadata"]:
            self._take(kind, deleted)

    async def _delete_ingest_pod(self, pod: LeavingPod) -> None:
        try:
            await self._client.delete(PODS, self._release_namespace, pod.name, uid=pod.uid, grace_period_s=0)
        except ApiError as error:
            if not error.not_found and not error.conflict:
                raise
        self._world.ingest_pods.deleted(pod.uid)
        log.warning("ingest-pod.deleted", pod=pod.name, node=pod.node)

    async def _delete_secret(self, action: actions.DeleteSecret) -> None:
        """Deletes credentials unless what they were made for turns out to use them.

        The plan knows that from a cache; a Secret that is gone is gone.
        """
        entry = self._world.store.entry(SECRET, action.name)
        labels = entry.labels if entry else {}
        for label, kind in MADE_FOR.items():
            if label in labels and await self._uses(kind, labels[label], action.name):
                return
        await self._delete(SECRETS, SECRET, action.name, action.uid)

    async def _uses(self, kind: str, name: str, secret: str) -> bool:
        """Whether a resource uses a Secret that was made for it, by the API server's own word."""
        try:
            document = await self._client.get(CUSTOM[kind], self._namespace, name)
        except ApiError as error:
            if not error.not_found:
                raise
            return False
        self._take(kind, document)
        # A source uses its Secret without a reference.
        return kind == SOURCE or secret in secrets_of(document)

    async def _change_owners(self, action: actions.Adopt | actions.Disown | actions.AdoptSecret) -> None:
        match action:
            case actions.Adopt():
                child = action.child
                await self._adopt(CUSTOM[child.kind], child.kind, child.name, action.owner, child)
            case actions.Disown():
                await self._disown(action.child)
            case actions.AdoptSecret():
                await self._adopt(SECRETS, SECRET, action.name, action.owner)

    async def _adopt(
        self, api: Api, kind: str, name: str, owner: Resource, child: Resource | None = None
    ) -> None:
        """Adds an owner reference to the newest known version of the child.

        The garbage collector deletes what is owned by nobody who exists, so the owner is looked at first: the
        watch may be yet to tell that it was deleted, or made again under its name.
        """
        await self._confirm(owner)
        reference = owner_reference(owner.kind, owner.name, owner.uid)
        entry = self._newest(kind, name, child)
        present = (entry.metadata.get("ownerReferences") or []) if entry else []
        metadata: Document = {"ownerReferences": [*present, reference]}
        if entry:
            metadata["resourceVersion"] = str(entry.version)
        elif child:
            metadata["resourceVersion"] = child.resource_version
        await self._write_owners(api, kind, name, metadata)

    async def _disown(self, child: Resource) -> None:
        """Takes our owner references away from the newest known version of a child."""
        kind, name = child.kind, child.name
        if entry := self._newest(kind, name, child):
            owners = other_owners(entry.metadata)
            metadata: Document = {"ownerReferences": owners, "resourceVersion": str(entry.version)}
            await self._write_owners(CUSTOM[kind], kind, name, metadata)

    def _newest(self, kind: str, name: str, child: Resource | None) -> Entry | None:
        """
        Raises:
            ApiError: it is another one by now than the child that was looked at.
        """
        entry = self._world.store.entry(kind, name)
        if child and entry and entry.uid != child.uid:
            raise ApiError(409, "Conflict", f"{kind} {name} is another one by now")
        return entry

    async def _write_owners(self, api: Api, kind: str, name: str, metadata: Document) -> None:
        with _noted(kind, name):
            response = await self._client.merge_patch(api, self._namespace, name, {"metadata": metadata})
        self._take(kind, response)

    async def _confirm(self, resource: Resource) -> None:
        """
        Raises:
            ApiError: it does not exist any more, or is being deleted; the store knows that then.
        """
        kind, name = resource.kind, resource.name
        try:
            document = await self._client.get(CUSTOM[kind], self._namespace, name)
        except ApiError as error:
            if error.not_found and (change := self._world.store.remove(kind, name, resource.uid)):
                self._changed(change)
            raise
        self._take(kind, document)
        metadata = document["metadata"]
        if metadata["uid"] != resource.uid or "deletionTimestamp" in metadata:
            raise ApiError(409, "Conflict", f"{kind} {name} is not the one that was to own this")


@contextmanager
def _noted(kind: str, name: str) -> Iterator[None]:
    """Notes in a failure what was to be written: that, and nothing else, is read again."""
    try:
        yield
    except ApiError as error:
        error.written = kind, name
        raise


def _note_transition(action: actions.WriteStatus) -> None:
    """Logs and measures what has been written of a broadcast."""
    before, after = action.resource, action.status
    if not isinstance(before, Project) or not isinstance(after, ProjectStatus) or after.broadcast is None:
        return
    former, current = before.status.broadcast, after.broadcast
    record_time_to_air(former, current)
    record_triggers(former, current)
    if former is None or former.phase is not current.phase or former.epoch != current.epoch:
        log.info(
            "broadcast.phase",
            project=before.name,
            broadcast=current.id,
            epoch=current.epoch,
            phase=str(current.phase),
        )
