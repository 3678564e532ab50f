"""Follows the streams of a gateway as the operator does, and waits for what is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import httpx
from tests.support.plain_http import NO_TLS

from onair_crds.contract.ingest_gateway import (
    STREAMS_PATH,
    Heartbeat,
    RefusedPublisher,
    StreamState,
    gateway_token,
    stream_of_key,
)

DEADLINE_S = 15.0


@dataclass(frozen=True)
class ToldState:
    state: StreamState
    at_s: float
    """time.monotonic() of its arrival."""


class Follower:
    """Use as a context manager. It connects again whenever the gateway ends."""

    def __init__(self, url: str, secret: bytes) -> None:
        self.url = url
        self.headers = {"Authorization": f"Bearer {gateway_token(secret, 'operator')}"}
        self.told: list[ToldState] = []
        self.heartbeats = 0
        self.refused: list[RefusedPublisher] = []
        self.waiting: list[str] = []
        """Streams of previews that wait, as they were told."""
        self._news = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def of(self, key: str) -> list[ToldState]:
        """All that was told of the stream of a key."""
        return [told for told in self.told if told.state.stream == stream_of_key(key)]

    def wait(
        self, key: str, condition: Callable[[StreamState], bool], what: str, after: int = 0
    ) -> ToldState:
        """The first state of a key's stream, from the `after`-th on, of which the condition holds."""
        return self.wait_stream(stream_of_key(key), condition, what, after)

    def wait_stream(
        self, stream: str, condition: Callable[[StreamState], bool], what: str, after: int = 0
    ) -> ToldState:
        deadline_s = time.monotonic() + DEADLINE_S
        with self._news:
            while True:
                all_told = [told for told in self.told if told.state.stream == stream]
                for told in all_told[after:]:
                    if condition(told.state):
                        return told
                left_s = deadline_s - time.monotonic()
                assert left_s > 0, f"{what}: not within {DEADLINE_S:g} s; told: {all_told[after:]}"
                self._news.wait(left_s)

    def flowing(self, key: str, after: int = 0) -> ToldState:
        return self.wait(key, lambda state: state.flowing, "the stream flows", after)

    def described(self, key: str) -> ToldState:
        """The first state of a key's stream that flows and has its picture's size.

        In MPEG-TS the codec is named before a key frame tells the size.
        """
        return self.wait(
            key,
            lambda state: state.flowing and (state.video is None or state.video.width is not None),
            "the stream flows and its size is told",
        )

    def ended(self, key: str, after: int = 0) -> ToldState:
        return self.wait(key, lambda state: not state.online, "the stream ends", after)

    def interruptions(self, key: str) -> list[StreamState]:
        """What was told of a key's stream without media, after the first that has some.

        Who has just connected may be told before their media is counted.
        """
        states = [told.state for told in self.of(key)]
        came = next((number for number, state in enumerate(states) if state.flowing), len(states))
        return [state for state in states[came:] if not state.flowing]

    def disconnect(self, key: str) -> httpx.Response:
        """Asks the gateway to disconnect a publisher."""
        return httpx.delete(f"{self.url}{STREAMS_PATH}/{stream_of_key(key)}", headers=self.headers)

    def wait_heartbeats(self, more: int) -> None:
        wanted = self.heartbeats + more
        with self._news:
            assert self._news.wait_for(lambda: self.heartbeats >= wanted, DEADLINE_S), "no heartbeats"

    def wait_refused(self, publisher: RefusedPublisher, times: int) -> None:
        """Waits until a publisher has been told of so often; equal ones are told once with a heartbeat."""
        with self._news:
            told = self._news.wait_for(lambda: self.refused.count(publisher) >= times, DEADLINE_S)
        assert told, f"not told {times} times: {publisher}; told: {self.refused}"

    def _run(self) -> None:
        with httpx.Client(base_url=self.url, headers=self.headers, timeout=5, verify=NO_TLS) as http:
            while not self._ended.is_set():
                try:
                    with http.stream("GET", STREAMS_PATH) as response:
                        response.raise_for_status()
                        for line in response.iter_lines():
                            self._take(line)
                            if self._ended.is_set():
                                return
                except httpx.HTTPError:
                    self._ended.wait(0.05)

    def _take(self, line: str) -> None:
        with self._news:
            if json.loads(line)["type"] == "heartbeat":
                self.heartbeats += 1
                heartbeat = Heartbeat.model_validate_json(line)
                self.refused += heartbeat.refused
                self.waiting += heartbeat.waiting
            else:
                self.told.append(ToldState(StreamState.model_validate_json(line), time.monotonic()))
            self._news.notify_all()
