"""The port that gateways ask at whether somebody may publish; it is not the interface's."""

from __future__ import annotations

import asyncio

import structlog
from aiohttp import web
from pydantic import ValidationError

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import CREDENTIALS, SOURCE
from onair_api.ingest.gateway_identity import GatewayIdentity
from onair_api.ingest.publish_admission import PublishAdmission
from onair_api.metrics import PUBLISH_REQUESTS
from onair_crds.contract.ingest_gateway import HOOK_PATH, PublishRequest
from onair_crds.runtime.http_listener import listen

log = structlog.get_logger()

MAX_REQUEST = 16_384
BODY_TIMEOUT_S = 2.0


class IngestHook:
    def __init__(self, cluster: Cluster, release_namespace: str, host: str | None, port: int | None) -> None:
        self._cluster = cluster
        self._admission = PublishAdmission(cluster)
        self._identity = GatewayIdentity(cluster, release_namespace)
        self._host, self._port = host, port
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """The port that it listens on, once started."""
        return int(self._runner.addresses[0][1]) if self._runner else 0

    async def start(self) -> None:
        """Listens, if it has a port."""
        if self._port is None:
            return
        app = web.Application(client_max_size=MAX_REQUEST)
        app.router.add_post(HOOK_PATH, self._asked)
        self._runner = await listen(app, self._host, self._port)

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def _asked(self, request: web.Request) -> web.Response:
        if not await self._identity.shown_by(request.headers.get("Authorization", "")):
            PUBLISH_REQUESTS.labels("Unauthenticated").inc()
            return web.json_response({"message": "a gateway's token is required"}, status=401)
        if not self._cluster.has_listed(CREDENTIALS, SOURCE):
            PUBLISH_REQUESTS.labels("Unavailable").inc()
            return web.json_response({"message": "sources are not known yet"}, status=503)
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                asked = PublishRequest.model_validate_json(await request.read())
        except TimeoutError:
            return web.json_response({"message": "the request did not arrive in time"}, status=408)
        except ValidationError:
            return web.json_response({"message": "not a request to publish"}, status=400)
        refusal = self._admission.refusal(asked)
        PUBLISH_REQUESTS.labels(refusal.reason if refusal else "Admitted").inc()
        if refusal is None:
            return web.Response(status=204)
        log.info(
            "publish.refused",
            gateway=asked.gateway,
            protocol=asked.protocol,
            reason=refusal.reason,
            message=refusal.message,
        )
        return web.Response(text=refusal.wire(), status=403, content_type="application/json")
