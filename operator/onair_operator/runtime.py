"""One operator process: connects the parts, leads or waits, shuts down in order."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable

import structlog

from onair_crds.contract.ingest_gateway import Heartbeat
from onair_crds.contract.rooms import SECRET_NAME
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Store
from onair_crds.room_server.client import RoomServer
from onair_crds.room_server.credentials import CredentialsReader, SecretKeys
from onair_crds.runtime.garbage import short_collections
from onair_crds.runtime.probes import ProbeServer
from onair_operator.cluster.apply import Applier
from onair_operator.cluster.closing_namespace import release_projects
from onair_operator.cluster.event_recorder import EventRecorder
from onair_operator.cluster.ingest_addresses import IngestAddresses
from onair_operator.cluster.ingest_pods import IngestPods
from onair_operator.cluster.ingest_secret import follow_ingest_secret, ingest_secret
from onair_operator.cluster.lease import LeaderElection
from onair_operator.cluster.node_leases import NodeLeases
from onair_operator.cluster.operator_key import operator_key
from onair_operator.cluster.own_secret import UnusableSecret
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.receiver import Receiver
from onair_operator.cluster.renderer_key_secret import renderer_key
from onair_operator.cluster.resync import Resync
from onair_operator.cluster.room_secret import ensure_room_secret
from onair_operator.cluster.server_secrets import ensure_server_secrets, keep_server_secrets
from onair_operator.cluster.show_metrics import SHOWS, record_sandbox
from onair_operator.cluster.watch import Watch
from onair_operator.cluster.watched_kinds import BY_ROOM, KINDS, POD, PROJECT, TRIMS
from onair_operator.cluster.world import World
from onair_operator.destination.metrics import RECORDINGS
from onair_operator.encoder.fleet import Fleet
from onair_operator.encoder.page_tokens import PageTokens
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.encoder.renderer_key import RendererKey
from onair_operator.ingest.gateways import Gateways
from onair_operator.ingest.shown_previews import GatewayRoomAccess
from onair_operator.reconcile import ReconcileLoop
from onair_operator.room.kept_rooms import KeptRooms
from onair_operator.room.providers import RtcProviders
from onair_operator.settings import OperatorSettings
from onair_operator.source.events import heartbeat_events

log = structlog.get_logger()

START_RETRY_S = 1.0
PAGE_KEY_RETRY_S = 5.0


async def run(
    settings: OperatorSettings,
    stop: asyncio.Event,
    kubeconfig: str | None = None,
    watches_started: Callable[[], None] = lambda: None,
) -> None:
    """Runs an operator until `stop` is set; `watches_started` is called whenever the watches are up."""
    with short_collections():
        async with await KubeClient.connect(kubeconfig, program="onair-operator") as client:
            await _Runtime(client, settings, stop, watches_started).run()


class _Runtime:
    def __init__(
        self,
        client: KubeClient,
        settings: OperatorSettings,
        stop: asyncio.Event,
        watches_started: Callable[[], None],
    ) -> None:
        self._client = client
        self._settings = settings
        self._stop = stop
        self._identity = f"{os.environ.get('POD_NAME') or socket.gethostname()}-{secrets.token_hex(3)}"
        self._store = SHOWS.store = RECORDINGS.store = Store(KINDS, TRIMS)
        self._queue = WorkQueue()
        self._reconcile = ReconcileLoop(self._store, self._queue, settings)
        self._election = LeaderElection(
            client, settings.release_namespace, self._identity, settings.leader_election
        )
        self._nodes = NodeLeases(client)
        self._ingest_pods = IngestPods(client, settings.release_namespace, self._election.may_act)
        record_sandbox(settings.encoder.sandbox.mode)
        changed, namespace = self._reconcile.changed, settings.show_namespace
        self._resync = Resync(client, self._store, namespace, changed, lambda: self._election.leading)
        self._watch = Watch(client, self._store, namespace, changed, watches_started, self._resync)

    async def run(self) -> None:
        probes = ProbeServer(lambda: self._resync.synced)
        await probes.start(self._settings.health_port)
        watching = asyncio.create_task(self._watch.run(self._settings.resync_interval_s, self._stop))
        looking = asyncio.create_task(self._nodes.watch(self._needs_nodes))
        campaign = asyncio.create_task(self._election.campaign(self._lead))
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({watching, campaign, stopping, looking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stop.set()
            for task in (campaign, stopping, looking):
                task.cancel()
            ended = await asyncio.gather(campaign, stopping, looking, return_exceptions=True)
            # Released at once: the next one need not wait for our watches to end.
            await self._election.release()
            watched = await asyncio.gather(watching, return_exceptions=True)
            await probes.stop()
        for result in (*watched, *ended):
            if isinstance(result, Exception):
                raise result

    async def _lead(self) -> None:
        """Lists afresh, and only then decides and acts."""
        key, secret, page_key, receiver = await self._keys_and_list()
        client, queue, settings = self._client, self._queue, self._settings
        leads = self._election.may_act
        fleet = Fleet(key, lambda project: queue.add(Key(PROJECT, project)), leads)
        self._nodes.forget_dead()
        server = self._room_server()
        access = GatewayRoomAccess(server.url, server.credentials, self._has_room) if server else None
        recorder = EventRecorder(client, settings.show_namespace, self._identity)

        def told(heartbeat: Heartbeat) -> None:
            for event in heartbeat_events(self._store, heartbeat):
                recorder.record(event)

        gateways = Gateways(settings.ingest.gateways, self._reconcile.told, leads, access, told)
        rooms = KeptRooms(server, lambda project: queue.add(Key(PROJECT, project)), leads)
        addresses = IngestAddresses(
            client,
            settings.release_namespace,
            settings.ingest.services,
            self._reconcile.ingest_moved,
            leads,
        )
        providers = RtcProviders(settings.rtc)
        page_tokens = PageTokens(page_key, settings.token_issuer)
        world = World(
            self._store,
            fleet,
            self._nodes,
            providers,
            gateways,
            rooms,
            page_tokens=page_tokens,
            ingest_addresses=addresses,
            ingest_pods=self._ingest_pods,
            receivers=[receiver] if receiver else [],
            run_quotas=settings.quotas,
        )
        changed = self._reconcile.changed
        applier = Applier(client, world, queue, changed, recorder, key, settings, leads)
        gateways.follow(secret, self._election.term)
        rotation = asyncio.create_task(
            follow_ingest_secret(
                client, settings.release_namespace, secret, self._reconcile.ingest_secret_replaced
            )
        )
        keeping = asyncio.create_task(
            keep_server_secrets(client, settings, receiver, self._reconcile.receiver_replaced)
        )
        waiting = asyncio.create_task(self._wait_for_page_key(page_tokens))
        try:
            await self._reconcile.run(world, applier, self._resync)
        finally:
            waiting.cancel()
            rotation.cancel()
            keeping.cancel()
            await gateways.close()
            await rooms.close()
            await fleet.close()
            # What is closed may still ask for looks
            queue.clear()
            await recorder.drain()

    def _needs_nodes(self) -> bool:
        """Whether it may have to be known which nodes are dead."""
        return self._store.size(POD) > 0 or bool(self._ingest_pods.lost)

    def _has_room(self, room: str) -> bool:
        return any(True for _ in self._store.select(PROJECT, BY_ROOM, room))

    def _room_server(self) -> RoomServer | None:
        rooms = self._settings.rooms
        if not rooms.url:
            return None
        keys = SecretKeys(rooms.secret.name, rooms.secret.api_key, rooms.secret.api_secret)
        return RoomServer(rooms.url, CredentialsReader(self._client, self._settings.release_namespace, keys))

    async def _keys_and_list(self) -> tuple[OperatorKey, bytes | None, RendererKey | None, Receiver | None]:
        """Gives all keys that the operator needs, and the built-in MediaMTX, once everything is listed.

        The keys are its own, the secret of gateways if it is usable, and the key of pages' tokens.
        """
        namespace = self._settings.release_namespace
        while True:
            try:
                key = await operator_key(self._client, namespace)
                secret = await ingest_secret(self._client, namespace)
                page_key = await self._page_key(namespace)
                if self._settings.rooms.url and self._settings.rooms.secret.name == SECRET_NAME:
                    await ensure_room_secret(self._client, namespace)
                receiver = await ensure_server_secrets(self._client, self._settings)
                await self._resync.list_all()
            except ApiError as error:
                log.warning("start.waits", error=error.message)
                if error.forbidden:
                    await release_projects(self._client, self._settings.show_namespace)
                await asyncio.sleep(START_RETRY_S)
            except UnusableSecret as error:
                log.error("start.waits", error=str(error))
                await asyncio.sleep(START_RETRY_S)
            else:
                return key, secret, page_key, receiver

    async def _page_key(self, namespace: str) -> RendererKey | None:
        """The key of pages' tokens; None, which is logged, if it is unusable: shows go on air without it."""
        try:
            return await renderer_key(self._client, namespace, self._settings.keys_namespace)
        except UnusableSecret as error:
            log.error("page_tokens.unavailable", error=str(error))
            return None

    async def _wait_for_page_key(self, tokens: PageTokens) -> None:
        """Gives shows their pages' tokens once the key is restored, or deleted and created again."""
        if tokens.key:
            return
        while tokens.key is None:
            await asyncio.sleep(PAGE_KEY_RETRY_S)
            try:
                tokens.key = await self._page_key(self._settings.release_namespace)
            except ApiError as error:
                log.warning("page_tokens.unknown", error=error.message)
        self._reconcile.page_key_found()
