"""The gateway as a process; SIGTERM ends it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import aiohttp
import structlog
from prometheus_client import REGISTRY

from onair_crds.contract.ingest_gateway import usable_secret
from onair_crds.runtime.probes import ProbeServer
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.admission.admission import Admission
from onair_ingest.admission.facade import Facade
from onair_ingest.admission.hook import Hook
from onair_ingest.hls.memory import SHARE
from onair_ingest.hls.routes import HlsRoutes
from onair_ingest.hls.windows import Windows
from onair_ingest.measure.framerates import Framerates
from onair_ingest.measure.metrics import SrtMetrics
from onair_ingest.measure.srt_losses import SrtLosses
from onair_ingest.mediamtx.client import MediaMtx
from onair_ingest.mediamtx.rtmp_player import MediaServer
from onair_ingest.metrics import StreamMetrics
from onair_ingest.previews.metrics import PreviewMetrics
from onair_ingest.previews.previews import Previews
from onair_ingest.pulls.address_guard import AddressGuard
from onair_ingest.pulls.pull_task import Pauses
from onair_ingest.pulls.pull_tasks import PullTasks
from onair_ingest.readers.metrics import ReaderMetrics
from onair_ingest.readers.readers import Readers
from onair_ingest.readers.routes import ReaderRoutes
from onair_ingest.secret_file import follow_secret, read_secret
from onair_ingest.settings import Settings
from onair_ingest.streams.connection_identity import Identities
from onair_ingest.streams.identity_file import keep_identities, read_identities
from onair_ingest.streams.streams import Streams
from onair_ingest.streams_api import StreamsApi

log = structlog.get_logger()

SERVER_PROBE = "/server"
"""The liveness of MediaMTX, which it cannot report if it hangs: its port still accepts connections."""
LEAVE_S = 2.0
"""How long a server may take to end that is stopped together with its gateway: both containers of a pod are
told at the same moment, and killed 5 s later."""


async def run(settings: Settings) -> None:
    """Runs the gateway until SIGTERM, or until a part of it fails."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    secret = RotatedSecret(await read_secret(settings.secret_file))
    async with aiohttp.ClientSession() as session:
        await _serve(settings, secret, session, stop)


async def _serve(
    settings: Settings, secret: RotatedSecret, session: aiohttp.ClientSession, stop: asyncio.Event
) -> None:
    password = await _server_password(settings.mediamtx.password_file)
    mediamtx = MediaMtx(session, settings.mediamtx.api_url, settings.mediamtx.timeout_s, password)
    identities = Identities(mediamtx, await read_identities(settings.connections_file))
    streams = Streams(
        mediamtx,
        identities,
        poll_interval_s=settings.mediamtx.poll_interval_s,
        silent_after_s=settings.silent_after_s,
    )
    facade = Facade(session, secret, settings.name, settings.hook)
    hook = Hook(Admission(facade, streams, identities, mediamtx), password)
    probes = ProbeServer(
        lambda: streams.settled and streams.server_responds,
        others={SERVER_PROBE: lambda: not streams.server_hangs},
    )
    await probes.start(settings.metrics_port)
    guard = AddressGuard(settings.inside)
    pauses = Pauses(settings.pulls.first_pause_s, settings.pulls.longest_pause_s)
    pulls = PullTasks(mediamtx, streams, guard, pauses, enabled=settings.pulls.enabled)
    keeping = asyncio.create_task(_keep(settings.connections_file, identities))
    forgetting = asyncio.create_task(pulls.forget_former())
    media_server = MediaServer.at(settings.mediamtx.rtmp_url, hook.reader_password)
    readers = Readers(
        streams.path,
        streams.undecodable,
        streams.inbound_bytes,
        media_server,
        settings.reader_linger_s,
    )
    previews = Previews(readers, streams.video, settings.previews.most, streams.preview_waits)
    hls_bytes = round(settings.memory_bytes * SHARE)
    windows = Windows(readers, streams.state, settings.previews.most_hls, hls_bytes)
    srt_losses = SrtLosses(mediamtx, streams)
    REGISTRY.register(StreamMetrics(streams))
    REGISTRY.register(SrtMetrics(srt_losses))
    REGISTRY.register(PreviewMetrics(previews, windows))
    REGISTRY.register(ReaderMetrics(readers))
    routes = ReaderRoutes(readers, secret), HlsRoutes(windows, secret)
    api = StreamsApi(streams, pulls, previews, secret, *routes)
    servers = [await hook.start(settings.hook.host, settings.hook.port), await api.start(settings.port)]
    log.info("ingest.started", gateway=settings.name, port=settings.port)
    framerates = Framerates(streams, media_server)
    rotation = follow_secret(settings.secret_file, secret, settings.secret_interval_s)
    running = (streams.run(), framerates.run(), srt_losses.run(), rotation)
    parts = [asyncio.create_task(part) for part in running]
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({*parts, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (*parts, stopping, forgetting):
        task.cancel()
    ended = await asyncio.gather(*parts, return_exceptions=True)
    # An existing server continues, and so does the server of a gateway that failed.
    ends_too = stop.is_set() and not password
    stopped = asyncio.create_task(asyncio.sleep(settings.stop_s if ends_too else 0.0))
    await streams.leave(LEAVE_S if ends_too else 0.0)
    await previews.close()
    await windows.close()
    await readers.close()
    for server in servers:
        await server.cleanup()
    keeping.cancel()
    await pulls.close()
    await probes.stop()
    await stopped
    for result in ended:
        if isinstance(result, Exception):
            raise result


async def _keep(path: Path | None, identities: Identities) -> None:
    if path:
        await keep_identities(path, identities)


async def _server_password(path: Path | None) -> str:
    """
    Raises:
        ValueError: it could be guessed.
    """
    if path is None:
        return ""
    return usable_secret(await asyncio.to_thread(path.read_bytes)).decode().strip()
