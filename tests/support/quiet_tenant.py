"""A tenant that does little, and notes how long each thing takes."""

from __future__ import annotations

import json
import queue
import threading
import time

import httpx
from tests.support.plain_http import NO_TLS
from websockets.sync.client import connect

PER_S = 25


class QuietTenant:
    """It reads a project and publishes, each 25 times a second."""

    def __init__(self, port: int, token: str) -> None:
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            verify=NO_TLS,
        )
        made = self._ok("POST", "/live/v2/collection", {})["collection"]["collectionId"]
        path = f"/live/v2/collection/{made}/project"
        self._path = f"{path}/{self._ok('POST', path, {})['project']['projectId']}"
        url = f"ws://127.0.0.1:{port}/event/v2/stream?subscribe.name=tick&access_token={token}"
        self._socket = connect(url, compression=None, proxy=None).__enter__()
        self._socket.recv(10)

    def _ok(self, method: str, path: str, body: object = None) -> dict[str, dict[str, str]]:
        response = self._http.request(method, path, json=body).raise_for_status()
        return response.json()  # type: ignore[no-any-return]

    def measure(self, seconds: float) -> tuple[list[float], list[float]]:
        """Milliseconds of each request, and from each publish to its event."""
        requests: list[float] = []
        events: queue.Queue[float] = queue.Queue()
        count = round(seconds * PER_S)

        def receive() -> None:
            for _ in range(count):
                event = json.loads(self._socket.recv(30))["result"]["event"]
                events.put((time.monotonic() - event["payload"]["sent"]) * 1000)

        receiver = threading.Thread(target=receive)
        receiver.start()
        began = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, began + number / PER_S - time.monotonic()))
            sent = time.monotonic()
            self._ok("GET", self._path)
            requests.append((time.monotonic() - sent) * 1000)
            self._ok("POST", "/event/v2/publish", {"name": "tick", "payload": {"sent": time.monotonic()}})
        receiver.join(30)
        assert events.qsize() == count, "each event came"
        return requests, [events.get() for _ in range(count)]
