"""A real LiveKit server on loopback, its tokens, and a real browser that watches a room of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

import jwt
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.support.control_plane import free_port
from tests.support.delivery.browser_page import Viewer, browser_page
from tests.support.delivery.npm_script import npm_script
from tests.support.delivery.server_program import server_program
from tests.support.processes import suspend
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

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
        self._metrics_port = free_port()
        self._config, self._log = folder / "livekit.yaml", folder / "livekit.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._more: dict[str, Any] = {}
        self.configure(**settings)

    def configure(self, **settings: Any) -> None:
        """Adds settings, for the next start."""
        self._more |= settings
        # As in the chart: browsers keep audio and video in sync only if they are in one stream
        room = {"sync_streams": True, **self._more.get("room", {})}
        self._config.write_text(yaml.safe_dump({**self._settings(), **self._more, "room": room}))

    def _settings(self) -> dict[str, Any]:
        return {
            "port": self.port,
            "bind_addresses": ["127.0.0.1"],
            "prometheus": {"port": self._metrics_port},
            "rtc": {
                "tcp_port": self.tcp_port,
                "udp_port": self.udp_port,
                "node_ip": self._media_host,
                "use_external_ip": False,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": ["lo"]},
            },
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
        wait_for(self._is_up, "LiveKit responds", state=self._log.read_text)

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
        if frozen:
            suspend(self._process.pid)
        else:
            self._process.send_signal(signal.SIGCONT)

    @property
    def rooms(self) -> int:
        """Rooms on this server, without those of other servers over the same Redis."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics_port}/metrics") as response:
            metrics = text_string_to_metric_families(response.read().decode())
        return int(next(m.samples[0].value for m in metrics if m.name == "livekit_room_total"))

    def token(self, room: str, identity: str, secret: str = SECRET, age_s: int = 0, **rights: bool) -> str:
        grant = {"room": room, "roomJoin": True, **rights}
        return jwt.encode(
            {"iss": KEY, "sub": identity, "exp": int(time.time()) + 600 - age_s, "video": grant}, secret
        )

    def call(self, method: str, **body: Any) -> JsonObject:
        """The response of an operation of the server's RoomService."""
        room = str(body.get("room", ""))
        token = self.token(room, "test", roomAdmin=True, roomCreate=True, roomList=True)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/twirp/livekit.RoomService/{method}",
            json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {token}",
            },
        )
        with urllib.request.urlopen(request) as response:
            result: JsonObject = json.load(response)
            return result


def client_script() -> str:
    """LiveKit's own client for browsers, as it is published."""
    return npm_script("livekit-client", CLIENT, "livekit-client.umd.js", CLIENT_SHA256)


@contextlib.asynccontextmanager
async def viewer(server: LiveKitServer, room: str) -> AsyncIterator[Viewer]:
    """A browser with LiveKit's client that has joined the room, for as long as the context lasts."""
    token = server.token(room, "viewer", canPublish=False, canSubscribe=True)
    settings = json.dumps({"url": server.url, "token": token})
    client = f"{await asyncio.to_thread(client_script)}\nconst SETTINGS = {settings};"
    async with browser_page(PAGE.read_text(), {"/client.js": client}) as watching:
        await watching.until("in the room", lambda report: report["state"] == "connected", 40)
        yield watching
