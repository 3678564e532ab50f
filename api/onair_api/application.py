"""Connects the parts of the facade; starts and stops them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import structlog
from fastapi import FastAPI

from onair_api.auth.api_keys import ApiKeys
from onair_api.auth.callers import Callers
from onair_api.auth.expiry import Sweeper
from onair_api.auth.guest_codes import GuestCodes
from onair_api.auth.guest_links import GuestLinks
from onair_api.auth.ingest_secret import IngestSecret
from onair_api.auth.rate_limits import RateLimits
from onair_api.auth.revocation import RevokedTokens
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.token_runs import run_is_over
from onair_api.auth.tokens import Tokens
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import GUEST_CODE, REVOKED_TOKEN, SIGNING_KEY
from onair_api.event.service import Events
from onair_api.http import compression, hls_previews, openapi, pages, responses, routes
from onair_api.http.cors import Cors
from onair_api.http.request_log import RequestLog
from onair_api.http.rooms import routes as room_routes
from onair_api.http.rooms.webhooks import RoomWebhooks
from onair_api.ingest.hook import IngestHook
from onair_api.layout.layer.service import Layers
from onair_api.layout.service import Layouts
from onair_api.live.authentication.service import Authentication
from onair_api.live.broadcast.run import is_on_air
from onair_api.live.broadcast.service import Broadcasts
from onair_api.live.broadcast.snapshot import Encoders
from onair_api.live.collection.service import Collections
from onair_api.live.destination.service import Destinations
from onair_api.live.project.project_sources import ProjectSources
from onair_api.live.project.record import ProjectRecords
from onair_api.live.project.service import Projects
from onair_api.live.room.join_identities import JoinIdentities
from onair_api.live.room.kept_values import KeptValues
from onair_api.live.room.room_admission import RoomAdmission
from onair_api.live.room.service import Rooms
from onair_api.live.source.assigned_ingest import AssignedIngest
from onair_api.live.source.hls import HlsPreviews
from onair_api.live.source.record import SourceRecords
from onair_api.live.source.service import Sources
from onair_api.live.source.stream_keys import StreamKeys
from onair_api.operation import AnyOperation, StreamOperation
from onair_api.operations import OPERATIONS, schemas
from onair_api.rpc import routes as rpc_routes
from onair_api.services import Services
from onair_api.settings import Settings
from onair_api.writes.credential_secrets import Credentials
from onair_api.writes.quota_enforcement import Quotas
from onair_api.writes.writer import Writer
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.room_server.client import RoomServer
from onair_crds.room_server.credentials import CredentialsReader, SecretKeys
from onair_crds.runtime.probes import ProbeServer

log = structlog.get_logger()

KEY_RETRY_S = 2.0


def create_app(settings: Settings, client: KubeClient) -> FastAPI:
    """The facade over one cluster. It serves probes at once and fills its cache as it runs."""
    services = connect(settings, client)
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(services),
    )
    app.state.services = services
    responses.install(app)
    installed = OPERATIONS, services.of, services.callers, settings.limits, schemas()
    routes.install(app, *installed)
    rpc_routes.install(app, *installed)
    webhooks = RoomWebhooks(services.room_admission, services.room_values, services.events.rooms)
    hls_previews.install(app, services.hls_previews)
    room_routes.install(app, services.room_admission, webhooks, settings.limits)
    pages.install(app, services.cluster, services.keys, services.is_alive, settings)
    openapi.install(app, settings.public_url)
    app.add_middleware(compression.Compression)
    app.add_middleware(RequestLog, streams=stream_paths(OPERATIONS))
    # Outermost: browsers see the text of errors, too
    app.add_middleware(Cors, api=app, settings=settings.cors)
    return app


def stream_paths(operations: Iterable[AnyOperation | StreamOperation]) -> frozenset[str]:
    """Where operations are served whose responses do not end."""
    streams = [each for each in operations if isinstance(each, StreamOperation)]
    return frozenset(path for each in streams for path in (each.http.path, rpc_routes.path_of(each)))


def connect(settings: Settings, client: KubeClient) -> Services:
    """Builds every part; nothing runs yet."""
    cluster = Cluster(client, settings)
    quotas = Quotas(cluster.view, settings.quotas, is_on_air)
    writer, credentials = Writer(cluster, settings.inside, quotas), Credentials(cluster)
    keys, api_keys = SigningKeys(cluster), ApiKeys(cluster)
    revoked = RevokedTokens(cluster, quotas)
    tokens = Tokens(
        keys,
        settings.tokens,
        revoked=revoked.known,
        ended=revoked.ended,
        run_over=partial(run_is_over, cluster.view),
        api_keys=api_keys,
    )
    callers = Callers(tokens, api_keys, RateLimits(settings.rate_limits, settings.redis))
    sweeper = Sweeper(cluster, (REVOKED_TOKEN, GUEST_CODE), settings.tokens.sweep_interval_s)
    links = GuestLinks(settings.guest_links, settings.inside)
    guest_codes = GuestCodes(cluster, revoked, sweeper, settings.public_url, quotas, links)
    stream_keys = StreamKeys(cluster, credentials)
    ingest = AssignedIngest(cluster.view, settings.ingest, settings.release_namespace)
    source_records = SourceRecords(stream_keys, ingest.now)
    records = ProjectRecords(
        cluster.view, credentials, guest_codes, source_records, settings.renderer_base_url
    )
    limits = settings.limits
    room_values = KeptValues(settings.redis)
    room_server, joins = _room_server(settings, client), JoinIdentities(room_values)
    projects = Projects(cluster, writer, records, limits)
    sources = Sources(cluster, writer, stream_keys, source_records, limits)
    events = Events(
        cluster,
        settings,
        records,
        callers,
        lambda token_id, identity: revoked.known(token_id) or tokens.known_to_have_ended(identity),
    )
    return Services(
        settings=settings,
        cluster=cluster,
        keys=keys,
        callers=callers,
        sweeper=sweeper,
        authentication=Authentication(cluster, tokens, keys, revoked, guest_codes, settings.tokens, links),
        collections=Collections(cluster, writer, records, projects, sources, limits, quotas),
        projects=projects,
        project_sources=ProjectSources(cluster, writer, records, limits),
        destinations=Destinations(cluster, writer, credentials, limits),
        broadcasts=Broadcasts(cluster, writer, Encoders(client, settings.show_namespace)),
        sources=sources,
        hls_previews=HlsPreviews(
            cluster, IngestSecret(cluster, settings.release_namespace), settings, tokens.has_ended
        ),
        rooms=Rooms(cluster, writer, room_server, joins, settings.rooms),
        room_admission=RoomAdmission(cluster, writer, room_server, joins, callers),
        room_values=room_values,
        layouts=Layouts(cluster, writer, limits),
        layers=Layers(cluster, writer, limits, events.details),
        events=events,
        ingest_hook=IngestHook(
            cluster, settings.release_namespace, settings.listen.host, settings.ingest.hook_port
        ),
        http_streams=events.http,
        websocket_streams=events.websocket,
        message_streams=events.messages,
    )


def _room_server(settings: Settings, client: KubeClient) -> RoomServer | None:
    rooms = settings.rooms
    if not rooms.url:
        return None
    keys = SecretKeys(rooms.secret.name, rooms.secret.api_key, rooms.secret.api_secret)
    return RoomServer(rooms.url, CredentialsReader(client, settings.release_namespace, keys))


def _lifespan(services: Services) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services.events.start()
        services.cluster.start()
        metrics, metrics_port = ProbeServer(), services.settings.listen.metrics_port
        if metrics_port is not None:
            await metrics.start(metrics_port)
        await services.ingest_hook.start()
        tasks = services.tasks
        tasks.start(_ensure_key(services), "signing-key")
        tasks.start(services.sweeper.run(), "sweeper")
        tasks.start(services.callers.rate_limits.run(), "rate-limits")
        try:
            yield
        finally:
            await tasks.stop()
            await services.ingest_hook.stop()
            await metrics.stop()
            await services.events.stop()
            await services.cluster.stop()
            await services.hls_previews.close()
            await services.room_values.close()
            if server := services.room_admission.server:
                await server.close()
            log.info("api.stopped")

    return lifespan


async def _ensure_key(services: Services) -> None:
    """Creates the first signing key once it is known that there is none; waits for the API server."""
    await services.cluster.filled(SIGNING_KEY)
    while True:
        try:
            await services.keys.ensure()
        except ApiError as error:
            log.warning("signing_key.not_created", status=error.status, reason=error.reason)
            await asyncio.sleep(KEY_RETRY_S)
        else:
            return
