"""MediaMTX in Docker, for what is delivered out of containers."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Self

import httpx
from tests.support.docker import address_of, docker, remove
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

CONFIG = """
api: yes
apiAddress: :9997
hls: no
webrtc: no
srt: no
moq: no
authInternalUsers:
  - user: any
    permissions: [{action: publish}, {action: read}, {action: api}]
paths:
  all_others:
"""


class RtmpContainer:
    """Use as a context manager."""

    def __init__(self, image: str, config: str = CONFIG) -> None:
        self.image, self.config, self.name = image, config, f"onair-test-rtmp-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> Self:
        config = Path(tempfile.mkdtemp()) / "far-end.yml"
        config.write_text(self.config)
        docker("create", "--name", self.name, self.image, "/far-end.yml")
        docker("cp", str(config), f"{self.name}:/far-end.yml")
        docker("start", self.name)
        self.address = address_of(self.name)
        self.http = httpx.Client(base_url=f"http://{self.address}:9997", timeout=5, verify=NO_TLS)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        remove(self.name)

    @property
    def url(self) -> str:
        return f"rtmp://{self.address}:1935/live"

    def read_url(self, key: str) -> str:
        return f"rtsp://{self.address}:8554/live/{key}"

    def rtmp_url(self, key: str) -> str:
        """Gives a stream with the timestamps that it came with.

        By RTSP audio and video are put together anew, by when they came: up to 75 ms off.
        """
        return f"{self.url}/{key}"

    def path(self, key: str) -> JsonObject:
        """What the server knows of a stream; empty where there is none."""
        response = self.http.get(f"/v3/paths/get/live/{key}")
        return response.json() if response.is_success else {}

    def publisher(self, key: str) -> str | None:
        """Id of the connection that publishes a stream."""
        source = self.path(key).get("source") or {}
        return source.get("id")

    def wait_publisher(self, key: str) -> str:
        """Waits until a stream has come; the encoder says a moment earlier that it is connected."""
        what = f"{key} at the far end"
        return wait_for(lambda: self.publisher(key), what, 10, poll_s=0.02, state=lambda: self.path(key))

    def received(self, key: str) -> int:
        return int(self.path(key).get("bytesReceived", 0))
