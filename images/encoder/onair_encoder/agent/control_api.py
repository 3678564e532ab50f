"""The agent's control API over HTTPS: every request carries a token of the operator's."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import jwt
from aiohttp import web
from pydantic import ValidationError

from onair_crds.contract.pod import (
    CERTIFICATE,
    CONTACT_PATH,
    CONTROL_PORT,
    OPERATOR_KEY,
    PRIVATE_KEY,
    PROGRAM_PATH,
    PROGRAM_SCOPE,
    SNAPSHOT_KEY,
    SNAPSHOT_PATH,
    STATUS_PATH,
)
from onair_crds.contract.program import Contact, Program
from onair_crds.runtime.bearer import shows_token, token_of
from onair_encoder.agent.agent import Agent, ProgramRefused
from onair_encoder.agent.control_token import scope_of
from onair_encoder.media.snapshot import NoSnapshot

SCOPES = {path: {PROGRAM_SCOPE} for path in (PROGRAM_PATH, STATUS_PATH, CONTACT_PATH, SNAPSHOT_PATH)}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MAX_PROGRAM = 4 * 1024 * 1024


class ControlApi:
    def __init__(self, agent: Agent, identity: Path, pod: str) -> None:
        self._agent = agent
        self._identity = identity
        self._pod = pod
        self._key = (identity / OPERATOR_KEY).read_text()
        self._snapshot_key = (identity / SNAPSHOT_KEY).read_text()

    async def start(self) -> web.AppRunner:
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._identity / CERTIFICATE, self._identity / PRIVATE_KEY)
        await web.TCPSite(runner, None, CONTROL_PORT, ssl_context=context).start()
        return runner

    def application(self) -> web.Application:
        """What is served."""
        app = web.Application(middlewares=[self._guard], client_max_size=MAX_PROGRAM)
        app.router.add_put(PROGRAM_PATH, self._put_program)
        app.router.add_get(STATUS_PATH, self._get_status)
        app.router.add_put(CONTACT_PATH, self._put_contact)
        app.router.add_get(SNAPSHOT_PATH, self._get_snapshot)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self._host_is_ours(request.host):
            # A rendered page shares the loopback and could have a name of its own point there.
            return web.json_response({"message": "this host is not served"}, status=421)
        shown = request.headers.get("Authorization", "")
        if request.path == SNAPSHOT_PATH and shows_token(shown, self._snapshot_key):
            return await handler(request)
        try:
            scope = scope_of(token_of(shown), self._key, self._pod)
        except jwt.PyJWTError:
            return web.json_response({"message": "a token of the operator is required"}, status=401)
        if scope not in SCOPES.get(request.path, ()):
            return web.json_response({"message": "the token does not allow this"}, status=403)
        self._agent.contact.heard()
        return await handler(request)

    def _host_is_ours(self, host: str) -> bool:
        name = host.rsplit(":", 1)[0].strip("[]")
        if name == self._pod:
            return True
        try:
            return not ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    async def _put_program(self, request: web.Request) -> web.Response:
        try:
            program = Program.model_validate_json(await request.read())
        except ValidationError as error:
            # Never the input itself: it holds keys.
            violations = [
                {"field": ".".join(map(str, e["loc"])), "description": e["msg"]}
                for e in error.errors(include_input=False, include_url=False)
            ]
            return web.json_response({"message": "not a program", "violations": violations}, status=400)
        try:
            await self._agent.take(program)
        except ProgramRefused as error:
            return web.json_response({"message": str(error)}, status=409)
        return web.Response(text=self._agent.status().wire(), content_type="application/json")

    async def _put_contact(self, request: web.Request) -> web.Response:
        try:
            contact = Contact.model_validate_json(await request.read())
        except ValidationError:
            return web.json_response({"message": "not a contact"}, status=400)
        if contact.replaced:
            await self._agent.yield_place()
        elif contact.stop:
            await self._agent.stop()
        return web.Response(status=204)

    async def _get_status(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("follow") != "1":
            return web.Response(text=self._agent.status().wire(), content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        version = -1
        try:
            while True:
                await response.write(self._agent.status().wire().encode() + b"\n")
                version = await self._agent.changes.after(version)
        except ConnectionError:
            return response

    async def _get_snapshot(self, request: web.Request) -> web.Response:
        try:
            jpeg = await self._agent.snapshots.jpeg()
        except NoSnapshot as error:
            return web.json_response({"message": str(error)}, status=503)
        return web.Response(body=jpeg, content_type="image/jpeg")
