"""The client of one encoder, against an HTTPS server with an encoder's identity."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.worlds import pod

from onair_crds.contract.pod import CERTIFICATE, PRIVATE_KEY, PROGRAM_PATH, STATUS_PATH
from onair_crds.contract.program import EncoderStatus, Program, ProgramVideo
from onair_operator.encoder import client as client_module
from onair_operator.encoder.client import EncoderClient, EncoderUnreachable, ProgramRefused, digest
from onair_operator.encoder.identity import OperatorKey, pod_identity

KEY = OperatorKey.generate()
PROGRAM = Program(
    project="show",
    broadcast="run",
    epoch=1,
    composition_url="https://graphics.example",
    video=ProgramVideo(
        width=1280, height=720, framerate=30, bitrate_bps=3_000_000, keyframe_interval_frames=30
    ),
)


class Encoder:
    """Remembers the programmes that it was handed, and streams the statuses that a test gives it."""

    def __init__(self, identity: dict[str, str]) -> None:
        self.certificate = identity[CERTIFICATE]
        self.statuses: asyncio.Queue[EncoderStatus] = asyncio.Queue()
        self.programs: list[Program] = []
        self.refuses = False

    async def take(self, request: web.Request) -> web.Response:
        if self.refuses:
            return web.Response(status=409, text="epoch 2 is known")
        self.programs.append(Program.model_validate_json(await request.read()))
        return web.Response()

    async def follow(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            status = await self.statuses.get()
            await response.write(status.wire().encode() + b"\n")


@pytest.fixture
async def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Encoder]:
    identity = pod_identity(KEY, dt.datetime.now(dt.UTC))
    for name in (CERTIFICATE, PRIVATE_KEY):
        (tmp_path / name).write_text(identity[name])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / CERTIFICATE, tmp_path / PRIVATE_KEY)
    encoder, port = Encoder(identity), free_port()
    app = web.Application()
    app.router.add_put(PROGRAM_PATH, encoder.take)
    app.router.add_get(STATUS_PATH, encoder.follow)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    monkeypatch.setattr(client_module, "control_url", lambda ip, path: f"https://{ip}:{port}{path}")
    yield encoder
    await runner.cleanup()


class Followed:
    """A client, and how often it reported a transition."""

    def __init__(self, certificate: str) -> None:
        self.changes = 0
        self.client = EncoderClient(pod(ip="127.0.0.1"), certificate, KEY, self._changed)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
async def followed(encoder: Encoder) -> AsyncIterator[Followed]:
    followed = Followed(encoder.certificate)
    yield followed
    await followed.client.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a view cannot wake anybody
            await asyncio.sleep(0.01)


def status(revision: int = 0, **fields: int) -> EncoderStatus:
    return EncoderStatus(phase="running", broadcast="run", epoch=1, revision=revision, **fields)


async def test_a_transition_is_reported_and_a_mere_count_is_not(encoder: Encoder, followed: Followed) -> None:
    encoder.statuses.put_nowait(status(frames=1))
    await until(lambda: followed.changes == 1)
    encoder.statuses.put_nowait(status(frames=2))
    await until(lambda: bool(followed.client.view.status and followed.client.view.status.frames == 2))
    assert followed.changes == 1
    assert followed.client.view.connected


async def test_a_programme_is_pushed_once_under_a_growing_revision(
    encoder: Encoder, followed: Followed
) -> None:
    for program in (PROGRAM, PROGRAM, PROGRAM.model_copy(update={"stop": True})):
        await followed.client.push(program)
    assert [program.stop for program in encoder.programs] == [False, True]
    assert encoder.programs[0].revision < encoder.programs[1].revision
    assert followed.client.view.pushed == digest(encoder.programs[1])


async def test_an_encoder_that_lost_its_programme_gets_it_again(encoder: Encoder, followed: Followed) -> None:
    await followed.client.push(PROGRAM)
    encoder.statuses.put_nowait(status(revision=0))
    await until(lambda: followed.client.view.pushed is None)
    await followed.client.push(PROGRAM)
    assert len(encoder.programs) == 2


async def test_a_refused_programme_is_not_taken_for_pushed(encoder: Encoder, followed: Followed) -> None:
    encoder.refuses = True
    with pytest.raises(ProgramRefused, match="epoch 2 is known"):
        await followed.client.push(PROGRAM)
    assert followed.client.view.pushed is None


async def test_another_encoders_certificate_is_refused(encoder: Encoder) -> None:
    other = Followed(pod_identity(KEY, dt.datetime.now(dt.UTC))[CERTIFICATE])
    with pytest.raises(EncoderUnreachable):
        await other.client.push(PROGRAM)
    assert encoder.programs == []
    await other.client.close()
