"""Creates encoder pods with their identities, in the background: an admission webhook may hang."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import structlog

from onair_crds.contract.labels import PROJECT_LABEL
from onair_crds.contract.owners import is_owned_by
from onair_crds.kube.apis import PODS, SECRETS, Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError, ApiUnreachable
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import Document
from onair_operator.cluster.actions import CreatePod, ResourceEvent
from onair_operator.cluster.key_failures import lacking_right, retry_s
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.watched_kinds import POD, PROJECT, SECRET
from onair_operator.cluster.world import PodRefusal, World
from onair_operator.encoder.cost import cost_of
from onair_operator.encoder.placement import regions_by_distance
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity
from onair_operator.settings import OperatorSettings
from onair_operator.specs.claim import Claim, claimed, identity_claim, pod_claim
from onair_operator.specs.identity_secret import unclaimed_identity
from onair_operator.specs.pod_manifest import unclaimed_pod

log = structlog.get_logger()

UNKNOWN_RETRY_S = 1.0
"""To an API server that does not know who asks."""
_ACTIVE = {str(phase) for phase in BroadcastPhase if phase.active}


class EncoderPods:
    def __init__(
        self,
        client: KubeClient,
        world: World,
        queue: WorkQueue,
        take: Callable[[str, Document], str],
        tell: Callable[[ResourceEvent], None],
        key: OperatorKey,
        settings: OperatorSettings,
        leads: Callable[[], bool],
    ) -> None:
        """
        Args:
            take: takes a response of the API server, by its kind, into the store.
            tell: records an Event.
            leads: whether this process may act at the moment.
        """
        self._client = client
        self._world = world
        self._queue = queue
        self._take = take
        self._tell = tell
        self._key = key
        self._settings = settings
        self._leads = leads

    def create(self, action: CreatePod) -> None:
        """Creates a pod in the background, by one attempt: the look that follows it sees what came of it.

        While it is under way there is no pod yet, and nothing more to be done for one.
        """
        if action.name in self._world.creations:
            return
        project, settings = action.project, self._settings
        claim = Claim(project, action.broadcast, action.epoch)
        identity = unclaimed_identity(action.name, pod_identity(self._key, dt.datetime.now(dt.UTC)))
        regions = regions_by_distance(project.spec.location, settings.regions)
        cost = cost_of(project.spec.rendering, settings.encoder.cost)
        pod = unclaimed_pod(action.name, settings.encoder, settings.inside, cost, regions, action.avoid)
        secret, manifest = claimed(identity, identity_claim(claim)), claimed(pod, pod_claim(claim))
        self._world.creations.begin(action.name, lambda: self._attempt(action, secret, manifest))

    async def _attempt(self, action: CreatePod, identity: Document, pod: Document) -> None:
        project = action.project.name
        try:
            for api, kind, document in ((SECRETS, SECRET, identity), (PODS, POD, pod)):
                if not self._claimed(action):
                    return
                if not self._leads():
                    break
                await self._create(api, kind, document)
            else:
                self._world.refusals.pop(project, None)
                log.info("pod.created", project=project, broadcast=action.broadcast, epoch=action.epoch)
        except ApiError as error:
            self._failed(action, error)
        else:
            self._queue.add(Key(PROJECT, project))

    def _claimed(self, action: CreatePod) -> bool:
        """Whether the project's record still claims the pod: its run may have ended since it was planned."""
        entry = self._world.store.entry(PROJECT, action.project.name)
        if entry is None or entry.uid != action.project.uid:
            return False
        run = entry.status.get("broadcast") or {}
        claim = run.get("id"), run.get("epoch")
        return claim == (action.broadcast, action.epoch) and run.get("phase") in _ACTIVE

    def _failed(self, action: CreatePod, error: ApiError) -> None:
        """Notes why there is no pod, and has the project looked at again after a while."""
        project, refusals = action.project, self._world.refusals
        log.warning("pod.not-created", project=project.name, reason=error.reason, error=error.message)
        if not self._claimed(action):
            return
        delay_s = UNKNOWN_RETRY_S
        if error.refused or isinstance(error, ApiUnreachable):
            before = refusals.get(project.name)
            refusal = refusals[project.name] = PodRefusal.of(action.name, error, before)
            delay_s = retry_s(error, refusal.times - 1)
            known = before and (before.pod, before.message) == (refusal.pod, refusal.message)
            if error.lacks_right and not known:
                self._tell(lacking_right(project, error))
        self._queue.add_after(Key(PROJECT, project.name), delay_s)

    async def _create(self, api: Api, kind: str, document: Document) -> None:
        name, namespace = document["metadata"]["name"], self._settings.show_namespace
        try:
            created = await self._client.create(api, namespace, document)
        except ApiError as error:
            if not error.already_exists:
                raise
            # Created before, by us: its name has run and epoch. What an earlier project of the name has left,
            # the garbage collector is about to delete.
            created = await self._client.get(api, namespace, name)
            labels, wanted = created["metadata"].get("labels") or {}, document["metadata"]
            owners = [each["uid"] for each in wanted.get("ownerReferences") or []]
            if labels.get(PROJECT_LABEL) != wanted["labels"][PROJECT_LABEL] or not all(
                is_owned_by(created["metadata"], uid) for uid in owners
            ):
                raise
        self._take(kind, created)
