"""MediaMTX' HTTP hook: may this connection publish or read? On the pod's loopback, else with a password."""

from __future__ import annotations

import hmac
import secrets
from typing import get_args

import structlog
from aiohttp import web
from pydantic import ValidationError

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_ingest.admission.admission import Admission, Publisher, PublishRefused, Reason
from onair_ingest.admission.facade import PublishProtocol
from onair_ingest.mediamtx.records import MediaMtxRecord
from onair_ingest.metrics import ADMITTED, REFUSED
from onair_ingest.streams.key import PULLS, key_of

log = structlog.get_logger()

PATH = "/publish"
MAX_QUESTION = 65_536
PUBLISHING = ("rtmp", "srt")


class Question(MediaMtxRecord):
    """What MediaMTX asks. Path, query, user, password and token may hold a stream key."""

    action: str
    protocol: str
    path: str = ""
    query: str = ""
    user: str = ""
    password: str = ""
    token: str = ""
    id: str | None = None
    ip: str = ""


class Hook:
    """Serves the hook that MediaMTX calls."""

    def __init__(self, admission: Admission, server_password: str = "") -> None:
        """
        Args:
            server_password: must be in each question's address as `token`, and admits to MediaMTX' API; empty
                where both are on this pod's loopback.
        """
        self._admission = admission
        self._server_password = server_password
        self.reader_password = secrets.token_urlsafe(24)
        """Admits readers: this process reads with it, and nobody else knows it."""

        for protocol in PUBLISHING:
            # From the start, or an alert would miss the first of its kind
            ADMITTED.labels(protocol)
            for reason in get_args(Reason):
                REFUSED.labels(protocol, reason)

    async def start(self, host: str | None, port: int) -> web.AppRunner:
        app = web.Application(client_max_size=MAX_QUESTION)
        app.router.add_post(PATH, self._asked)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        return runner

    async def _asked(self, request: web.Request) -> web.Response:
        if self._server_password and not _same(request.query.get("token", ""), self._server_password):
            return web.Response(status=401)
        try:
            question = Question.model_validate_json(await request.read())
        except ValidationError:
            return web.Response(status=400)
        if question.action == "read":
            shown = question.password or question.token
            return web.Response(status=204 if _same(shown, self.reader_password) else 403)
        if question.action == "api" and self._server_password:
            return web.Response(status=204 if _same(question.password, self._server_password) else 403)
        if question.action != "publish":
            return web.Response(status=403)
        key = key_of(
            question.path,
            question.query,
            user=question.user,
            password=question.password,
            token=question.token,
        )
        try:
            await self._publish(question, key)
        except PublishRefused as refused:
            REFUSED.labels(question.protocol, refused.reason).inc()
            log.warning(
                "publisher.refused",
                protocol=question.protocol,
                reason=refused.reason,
                message=str(refused),
                stream=stream_of_key(key) if key else None,
            )
            return web.Response(status=503 if refused.reason == "Unavailable" else 403)
        ADMITTED.labels(question.protocol).inc()
        log.info("publisher.admitted", protocol=question.protocol, stream=stream_of_key(key) if key else None)
        return web.Response(status=204)

    async def _publish(self, question: Question, key: str | None) -> None:
        if question.protocol not in PUBLISHING:
            raise PublishRefused("WrongProtocol", f"nobody publishes by {question.protocol}")
        if key is None or question.id is None or question.path.startswith(PULLS):
            raise PublishRefused("NoKey", "the publisher shows no stream key")
        protocol: PublishProtocol = "srt" if question.protocol == "srt" else "rtmp"
        await self._admission.admit(Publisher(question.id, protocol, question.path, key, question.ip))


def _same(shown: str, password: str) -> bool:
    return hmac.compare_digest(shown.encode(errors="surrogateescape"), password.encode())
