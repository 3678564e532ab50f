"""A server elsewhere that sources are pulled from: another MediaMTX, open to all."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import httpx
import yaml
from tests.support.child_process import START_TIMEOUT_S, ChildProcess
from tests.support.control_plane import free_port
from tests.support.delivery.server_program import server_program
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


class RtmpServer:
    """Use as a context manager."""

    def __init__(self, folder: Path, certificate: tuple[Path, Path] | None = None) -> None:
        self.port, self.rtmps_port, self._api = free_port(), free_port(), free_port()
        self._log = folder / "far-server.log"
        self._config = folder / "far-server.yml"
        users = [{"user": "any", "permissions": [{"action": each} for each in ("publish", "read", "api")]}]
        config = {
            "logLevel": "debug",
            "api": True,
            "apiAddress": f"127.0.0.1:{self._api}",
            "rtmpAddress": f"127.0.0.1:{self.port}",
            "authInternalUsers": users,
            "paths": {"all_others": None},
            **dict.fromkeys(("rtsp", "hls", "webrtc", "srt", "moq"), False),
        }
        if certificate:
            config |= {
                "rtmpEncryption": "optional",
                "rtmpsAddress": f":{self.rtmps_port}",
                "rtmpServerCert": str(certificate[0]),
                "rtmpServerKey": str(certificate[1]),
            }
        self._config.write_text(yaml.safe_dump(config))

    def __enter__(self) -> Self:
        self._process = ChildProcess([server_program("mediamtx"), self._config], self._log)
        wait_for(self._responds, "the far server responds", START_TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    @property
    def url(self) -> str:
        return f"rtmp://127.0.0.1:{self.port}/live"

    def wait_ready(self, key: str) -> None:
        wait_for(
            lambda: self._get(f"/v3/paths/get/live/{key}").is_success,
            "the far server has the stream",
            START_TIMEOUT_S,
        )

    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._get("/v3/rtmpconns/list").json()["items"])

    def readers(self, key: str) -> list[JsonObject]:
        items = self._get("/v3/rtmpconns/list").json()["items"]
        return [each for each in items if each["path"] == f"live/{key}" and each["state"] == "read"]

    def _responds(self) -> bool:
        self._process.check()
        try:
            return self._get("/v3/paths/list").is_success
        except httpx.HTTPError:
            return False

    def _get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self._api}{path}", timeout=5, verify=NO_TLS)
