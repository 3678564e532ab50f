"""Requests at a steady rate, some on connections that are kept and some on new ones; notes what fails."""

from __future__ import annotations

import threading
import time
from collections import Counter
from types import TracebackType
from typing import Self

import httpx
from tests.support.plain_http import NO_TLS


class SteadyRequests:
    """Reads and writes one resource from threads of its own while it is entered."""

    def __init__(self, http: httpx.Client, path: str, interval_s: float = 0.02) -> None:
        """
        Args:
            http: base URL and headers of the requests; the requests have clients of their own.
            path: what is read, and what takes a PATCH of its `metadata`.
            interval_s: between two requests of a thread.
        """
        self._http, self._path, self._interval_s = http, path, interval_s
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.responses: Counter[int] = Counter()
        self.failures: list[str] = []
        self.longest_s = 0.0
        self._threads = [
            threading.Thread(target=self._run, kwargs={"kept": kept, "writes": writes}, daemon=True)
            for kept in (True, False)
            for writes in (True, False)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    @property
    def sent(self) -> int:
        return self.responses.total() + len(self.failures)

    def _run(self, *, kept: bool, writes: bool) -> None:
        limits = httpx.Limits(max_keepalive_connections=1 if kept else 0)
        with httpx.Client(
            base_url=self._http.base_url, headers=self._http.headers, limits=limits, timeout=15, verify=NO_TLS
        ) as client:
            while not self._stop.wait(self._interval_s):
                self._send(client, "PATCH" if writes else "GET", "kept" if kept else "new")

    def _send(self, client: httpx.Client, method: str, connection: str) -> None:
        started = time.monotonic()
        body = {"metadata": {"at": started}, "updateMask": "metadata"} if method == "PATCH" else None
        try:
            response = client.request(method, self._path, json=body)
        except httpx.HTTPError as error:
            with self._lock:
                self.failures.append(f"{method} on a {connection} connection: {error!r}")
            return
        with self._lock:
            self.responses[response.status_code] += 1
            self.longest_s = max(self.longest_s, time.monotonic() - started)
            if response.is_error:
                self.failures.append(f"{method}: {response.status_code} {response.text[:200]}")
