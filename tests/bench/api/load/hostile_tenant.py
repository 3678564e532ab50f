"""Everything at once that a tenant's tokens can do to a facade; each request as often as it is let.

    python hostile_tenant.py PORT TOKEN-OF-STREAMS TOKEN-OF-REQUESTS STREAMS WILDCARDS

Opens streams that take everything. One of them asks for so many wildcard subscriptions beside, and once
these are answered a line is printed. Then all others ask for as many, while events are published to all of
them, four projects get 250 kB of metadata a second each, and foreign ids are read as fast as the answers
come: with another token, so that neither part uses up what the other may ask. Once it is ended it prints
what the facade did with each part.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import httpx
import uvloop
from tests.support.waiting import until

METADATA_BYTES = 250_000
PROJECTS = 4
"""Each is changed once a second."""
AT_ONCE = 8
"""Requests of a kind that are under way."""
PUBLISHED = {"name": "flood", "payload": {"text": "x" * 1000}}
LONGEST_REPLY = 1000
"""Bytes. What is longer is an event."""
ANSWERED_S = 90.0
QUOTA = re.compile(r"`(api\.[\w.]+)`")
TEXT = 1
"""Opcode of a frame."""


@dataclass
class Answers:
    """What the facade did with one part of it."""

    accepted: int = 0
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    """By the quota, or by the code where it names none."""

    def note(self, error: str | None) -> None:
        if error is None:
            self.accepted += 1
        else:
            self.refused[error] += 1

    @property
    def count(self) -> int:
        return self.accepted + self.refused.total()

    def json(self) -> dict[str, object]:
        return {"accepted": self.accepted, "refused": dict(self.refused)}


def reason_of(message: str) -> str:
    """The quota that an error names."""
    if quota := QUOTA.search(message):
        return quota[1]
    return "api.rateLimits.perToken" if "with this access token" in message else message[:60]


def masked(message: bytes) -> bytes:
    """A text frame of a client (RFC 6455), masked with zeros."""
    size = len(message)
    length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + length + b"\0\0\0\0" + message


class FrameReader:
    """Gives the short text messages of a server, and passes over all else."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipped = 0

    def read(self, data: bytes) -> list[bytes]:
        if self._skipped >= len(data):
            self._skipped -= len(data)
            return []
        data = self._rest + data[self._skipped :]
        self._skipped, at, size = 0, 0, len(data)
        found = []
        while size - at >= 2:
            head, length = 2, data[at + 1]
            if length >= 126:
                head = 4 if length == 126 else 10
                if size - at < head:
                    break
                length = int.from_bytes(data[at + 2 : at + head], "big")
            end = at + head + length
            if length > LONGEST_REPLY:
                self._skipped = max(0, end - size)
            elif end > size:
                break
            elif data[at] & 0x0F == TEXT:
                found.append(data[at + head : end])
            at = min(end, size)
        self._rest = data[at:]
        return found


class HostileStream(asyncio.Protocol):
    """Takes everything, asks for subscriptions, and counts what the answers are."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._reader: FrameReader | None = None
        self._head = b""
        self.open: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        """Why it was refused."""
        self.wildcards = Answers()
        self.asked = 0
        self.received = self.losses = 0
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        transport.write(self._request)  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        if not self.open.done():
            self.open.set_result("the connection was closed")

    def ask(self, names: list[str]) -> None:
        self.asked += len(names)
        asked = [{"correlationId": name, "subscribe": {"name": name}} for name in names]
        frames = b"".join(masked(json.dumps(each).encode()) for each in asked)
        self._transport.write(frames)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._reader is None:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.open.set_result(head.decode(errors="replace")[:60])
                return
            self._reader = FrameReader()
        for message in self._reader.read(data):
            if b'"event"' not in message:
                self._take(json.loads(message))

    def _take(self, message: dict[str, dict[str, object]]) -> None:
        result = message.get("result", message)
        error = result.get("error")
        text = str(error.get("message")) if isinstance(error, dict) else None
        if text and text.startswith("DATA_LOSS"):
            self.losses += 1
        elif not self.open.done():
            self.open.set_result(text)
        elif "correlationId" in result:
            self.wildcards.note(reason_of(text) if text else None)


class Requests:
    """Asks one thing after another, and counts what the answers are."""

    def __init__(self, http: httpx.AsyncClient, expected: int = 200) -> None:
        """
        Args:
            expected: the status with which it has done what it is to do.
        """
        self._http, self._expected = http, expected
        self.answers = Answers()

    async def ask(self, method: str, url: str, body: object = None) -> None:
        response = await self._http.request(method, url, json=body)
        if response.status_code == self._expected:
            self.answers.note(None)
            return
        message = str(response.json().get("message"))
        self.answers.note(f"{response.status_code} {reason_of(message)}")
        if response.status_code == 429:
            await asyncio.sleep(0.05)


async def opened(port: int, token: str, count: int) -> list[HostileStream]:
    """Streams for whatever there is."""
    request = (
        f"GET /event/v2/stream?subscribe.name=* HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()
    made: list[HostileStream] = []
    loop = asyncio.get_running_loop()
    for start in range(0, count, 100):
        new = [HostileStream(request) for _ in range(min(100, count - start))]
        for each in new:
            await loop.create_connection(partial(_itself, each), "127.0.0.1", port)
        async with asyncio.timeout(60):
            refused = {error for each in new if (error := await each.open)}
        assert not refused, refused
        made += new
    return made


def _itself(stream: HostileStream) -> HostileStream:
    return stream


def are_answered(streams: list[HostileStream]) -> bool:
    """Whether each has an answer to all that it has asked."""
    return all(each.wildcards.count == each.asked for each in streams)


def together(streams: list[HostileStream]) -> Answers:
    sum_ = Answers(sum(each.wildcards.accepted for each in streams))
    for each in streams:
        sum_.refused.update(each.wildcards.refused)
    return sum_


async def main(port: int, tokens: list[str], count: int, wildcards: int) -> None:
    streams_token, token = tokens
    names = [f"*:{number:03}:*:{'a' * 40}" for number in range(wildcards)]
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        limits=httpx.Limits(max_connections=None),
        timeout=60,
    ) as http:
        collection = (await http.post("/live/v2/collection", json={})).json()["collection"]["collectionId"]
        path = f"/live/v2/collection/{collection}/project"
        projects = [(await http.post(path, json={})).json()["project"]["projectId"] for _ in range(PROJECTS)]
        first, *others = streams = await opened(port, streams_token, count)
        first.ask(names)
        await until(lambda: are_answered([first]), "the first one is answered", ANSWERED_S, poll_s=0.05)
        print(json.dumps({"open": len(streams), "wildcards of one": first.wildcards.json()}), flush=True)

        publish, enlarge, pry = Requests(http), Requests(http), Requests(http, expected=404)

        async def ask_for_wildcards() -> None:
            for each in others:
                each.ask(names)
                await asyncio.sleep(0)

        async def keep_publishing() -> None:
            while True:
                await publish.ask("POST", "/event/v2/publish", PUBLISHED)

        async def keep_enlarging(project: str) -> None:
            number = 0
            while True:
                number += 1
                body = {"metadata": {"text": f"{number:08}" + "x" * METADATA_BYTES}}
                asked = enlarge.ask("PATCH", f"{path}/{project}", body)
                await asyncio.gather(asked, asyncio.sleep(1))

        async def keep_prying() -> None:
            while True:
                await pry.ask("GET", f"{path}/another")

        parts: list[Callable[[], Awaitable[None]]] = [ask_for_wildcards]
        parts += [partial(keep_enlarging, each) for each in projects]
        parts += [keep_publishing, keep_prying] * AT_ONCE
        began = time.monotonic()
        working = [asyncio.ensure_future(each()) for each in parts]
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        seconds = time.monotonic() - began
        failed = [each.exception() for each in working[1:] if each.done()]
        assert not failed, failed
        for task in working[1:]:
            task.cancel()
    report = {
        "seconds": seconds,
        "wildcards": {
            **together(others).json(),
            "asked": sum(each.asked for each in others),
        },
        "publish": publish.answers.json(),
        "metadata": {**enlarge.answers.json(), "bytes": METADATA_BYTES},
        "foreign": pry.answers.json(),
        "streams": {
            "ended": sum(each.ended for each in streams),
            "told of losses": sum(bool(each.losses) for each in streams),
            "bytes": sum(each.received for each in streams),
        },
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    os.nice(19)  # its computer is another one
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1]), sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5])))
