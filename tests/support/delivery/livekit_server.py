"""A real LiveKit server on loopback, its tokens, and a real browser that watches a room of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
import subprocess
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self

import jwt
import pytest
import yaml
from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.delivery.npm_script import npm_script
from tests.support.delivery.server_program import server_program

KEY, SECRET = "test", "a secret of the test's own server"
CLIENT, CLIENT_SHA256 = "2.23.0", "fb646f2260d84f91238d0a2dc10726c456631d6a26c7cafc43cfee5959b4d31d"
PAGE = Path(__file__).with_name("room_viewer.html")


class LiveKitServer:
    """Use as a context manager. Media goes over UDP on loopback."""

    def __init__(self, folder: Path, media_host: str = "127.0.0.1", **settings: Any) -> None:
        """
        Args:
            media_host: the address that peers are given for media; a proxy may be there.
            settings: of the server, over those of tests.
        """
        self._media_host = media_host
        self.port, self.tcp_port, self.udp_port = free_port(), free_port(), free_port()
        self._config, self._log = folder / "livekit.yaml", folder / "livekit.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._more: dict[str, Any] = {}
        self.configure(**settings)

    def configure(self, **settings: Any) -> None:
        """Adds settings, for the next start."""
        self._more |= settings
        self._config.write_text(yaml.safe_dump({**self._settings(), **self._more}))

    def _settings(self) -> dict[str, Any]:
        return {
            "port": self.port,
            "bind_addresses": ["127.0.0.1"],
            "rtc": {
                "tcp_port": self.tcp_port,
                "udp_port": self.udp_port,
                "node_ip": self._media_host,
                "use_external_ip": False,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": ["lo"]},
            },
            "room": {"sync_streams": True},
            "keys": {KEY: SECRET},
        }

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [server_program("livekit-server"), "--config", self._config],
            stdout=self._log.open("ab"),
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + 20
        while not self._is_up():
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.02)

    def _is_up(self) -> bool:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/") as response,
        ):
            return bool(response.status == 200)
        return False

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self, frozen: bool) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def token(self, room: str, identity: str, secret: str = SECRET, age_s: int = 0, **rights: bool) -> str:
        grant = {"room": room, "roomJoin": True, **rights}
        return jwt.encode(
            {"iss": KEY, "sub": identity, "exp": int(time.time()) + 600 - age_s, "video": grant}, secret
        )

    def call(self, method: str, **body: Any) -> None:
        """An operation of the server's RoomService."""
        rights = {"roomAdmin": True, "roomCreate": True}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/twirp/livekit.RoomService/{method}",
            json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self.token(str(body.get('room', '')), 'test', **rights)}",
            },
        )
        with urllib.request.urlopen(request) as response:
            assert response.status == 200


def browser_command(url: str, *more: str) -> tuple[list[str], str | None]:
    """Chromium on this machine or in the encoder's image; and the name of its container."""
    flags = [
        *("--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--mute-audio"),
        *("--autoplay-policy=no-user-gesture-required", "--disable-background-networking"),
        *("--disable-renderer-backgrounding", "--disable-background-timer-throttling"),
        *("--disable-dev-shm-usage", "--user-data-dir=/tmp/viewer", *more, url),
    ]
    if found := shutil.which("chromium"):
        return [found, *flags], None
    listed = ["docker", "image", "ls", "onair/encoder", "--format", "{{.Repository}}:{{.Tag}}"]
    images = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    if not images:
        pytest.fail("there is no chromium: install it, or run `make images`", pytrace=False)
    name = f"onair-test-viewer-{uuid.uuid4().hex[:8]}"
    run = ["docker", "run", "--rm", "--name", name, "--network", "host", "--user", "1000"]
    return [*run, "-e", "HOME=/tmp", "--entrypoint", "chromium", images[0], *flags], name


class Viewer:
    """What a browser sees and hears; its page reports several times a second."""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}

    async def until(
        self, what: str, condition: Callable[[dict[str, Any]], object], timeout_s: float = 20.0
    ) -> dict[str, Any]:
        """The first report of which the condition holds."""
        deadline = time.monotonic() + timeout_s
        while True:
            with contextlib.suppress(KeyError, TypeError):
                if condition(self.report):
                    return self.report
            assert time.monotonic() < deadline, f"not {what}: {json.dumps(self.report)[:1500]}"
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def viewer(server: LiveKitServer, room: str) -> AsyncIterator[Viewer]:
    """A browser with LiveKit's client that has joined the room, for as long as the context lasts."""
    watching = Viewer()
    token = server.token(room, "viewer", canPublish=False, canSubscribe=True)
    settings = f"const SETTINGS = {json.dumps({'url': server.url, 'token': token})};"
    # In threads: a test's loop may be the network of a room at the same time
    client = await asyncio.to_thread(
        npm_script, "livekit-client", CLIENT, "livekit-client.umd.js", CLIENT_SHA256
    )

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE.read_text(), content_type="text/html")

    async def script(_: web.Request) -> web.Response:
        return web.Response(
            text=client + settings,
            content_type="text/javascript",
        )

    async def take(request: web.Request) -> web.Response:
        watching.report = await request.json()
        return web.Response()

    application = web.Application(client_max_size=2**20)
    application.add_routes([web.get("/", page), web.get("/client.js", script), web.post("/report", take)])
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    command, container = await asyncio.to_thread(browser_command, f"http://127.0.0.1:{port}/")
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await watching.until("in the room", lambda report: report["state"] == "connected", 40)
        yield watching
    finally:
        if container:
            removing = await asyncio.create_subprocess_exec(
                "docker", "rm", "-f", container, stdout=asyncio.subprocess.DEVNULL
            )
            await removing.wait()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await runner.cleanup()
