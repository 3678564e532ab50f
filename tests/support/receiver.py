"""The receiver of e2e tests: the cluster's MediaMTX, queried through its API."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

API = f"http://127.0.0.1:{os.environ.get('ONAIR_MEDIAMTX_API_PORT', '9997')}"
RTMP_PORT = os.environ.get("ONAIR_RTMP_PORT", "1935")
RTSP_PORT = os.environ.get("ONAIR_RTSP_PORT", "8554")
IN_CLUSTER_RTMP = "rtmp://onair-mediamtx.onair-system.svc:1935"


def read_url(path: str) -> str:
    """Where a path is read from this machine, with the password that `make env` gives."""
    user, _, password = os.environ["ONAIR_READER"].partition(":")
    return f"rtmp://127.0.0.1:{RTMP_PORT}/{path}?user={user}&pass={password}"


def rtsp_url(path: str) -> str:
    """The same by RTSP."""
    return f"rtsp://{os.environ['ONAIR_READER']}@127.0.0.1:{RTSP_PORT}/{path}"


class ReceiverClient:
    """Client of the server's API: the state of each path. `make env` gives its password."""

    def __init__(self, api: str = API) -> None:
        user, _, password = os.environ["ONAIR_RECEIVER_API"].partition(":")
        self._http = httpx.Client(
            base_url=api, timeout=5, auth=(user, password), trust_env=False, verify=NO_TLS
        )

    def path(self, name: str) -> dict[str, Any] | None:
        response = self._http.get(f"/v3/paths/get/{name}")
        if response.status_code == 404 or (response.is_server_error and "terminated" in response.text):
            # The server responds 500 if the path ends between its lookup and the query of its state.
            return None
        path: dict[str, Any] = response.raise_for_status().json()
        return path

    def ready(self, name: str) -> bool:
        path = self.path(name)
        return bool(path and path["ready"])

    def received_bytes(self, name: str) -> int:
        path = self.path(name)
        return int(path["bytesReceived"]) if path else 0

    def publishers(self, name: str) -> list[dict[str, Any]]:
        connections = self._http.get("/v3/rtmpconns/list").raise_for_status().json()["items"]
        return [c for c in connections if c["path"] == name and c["state"] == "publish"]

    def kick(self, name: str) -> None:
        """Closes the connection of the path's publisher."""
        for connection in self.publishers(name):
            self._http.post(f"/v3/rtmpconns/kick/{connection['id']}").raise_for_status()

    def wait_ready(self, name: str, timeout_s: float = 30.0) -> float:
        """Waits until media of the path has arrived; returns the `time.time()` of its arrival."""
        wait_for(lambda: self.received_bytes(name), f"media at {name}", timeout_s, poll_s=POLL_S)
        return time.time()

    def wait_steady(self, name: str, for_s: float = 3.0, timeout_s: float = 30.0) -> None:
        """Waits until the path has received media for this long without a pause of a second."""
        last = self.received_bytes(name)
        since = moved = time.monotonic()

        def steady() -> bool:
            nonlocal last, since, moved
            if (received := self.received_bytes(name)) != last:
                last, now = received, time.monotonic()
                since = now if now - moved > LONGEST_PAUSE_S else since
                moved = now
            return moved - since >= for_s

        wait_for(steady, f"{name} is steady", timeout_s, poll_s=POLL_S)


POLL_S = 0.02
LONGEST_PAUSE_S = 1.0


@dataclass
class GapMonitor:
    """Polls a path's byte count; `longest_s` is the longest time without new bytes.

    `certain_s` is what of it is certain: a late response, or a thread that gets no core, is no gap.
    `reconnected` tells whether the path's publisher is another connection at the end.
    """

    receiver: ReceiverClient
    name: str
    longest_s: float = 0.0
    certain_s: float = 0.0
    reconnected: bool = False
    samples: int = 0
    error: Exception | None = None
    _last: int = 0
    _before: set[str] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._last = self.receiver.received_bytes(self.name)
        self._before = self._connections()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()
        assert self.error is None, f"monitoring of the gap failed: {self.error!r}"
        assert self.samples > 10
        self.reconnected = self._connections() != self._before

    def _connections(self) -> set[str]:
        return {each["id"] for each in self.receiver.publishers(self.name)}

    def _run(self) -> None:
        # A separate client: a slow call of the test must not look like a gap.
        receiver = ReceiverClient()
        moved = time.monotonic()
        try:
            while not self._stop.wait(POLL_S):
                asked = time.monotonic()
                now_bytes = receiver.received_bytes(self.name)
                self.samples += 1
                now = time.monotonic()
                self.longest_s = max(self.longest_s, now - moved)
                if now_bytes not in (self._last, 0):
                    self._last, moved = now_bytes, now
                else:  # what the server counted was counted after it was asked
                    self.certain_s = max(self.certain_s, asked - moved)
        except Exception as error:  # noqa: BLE001 - reported when the monitor exits
            self.error = error
