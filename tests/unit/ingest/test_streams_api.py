"""Who asks a gateway without a token learns nothing, whatever they send; the operator may say much."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import (
    PULLS_PATH,
    STREAMS_PATH,
    TERM_HEADER,
    Heartbeat,
    Pull,
    Pulls,
    gateway_token,
)
from onair_crds.contract.previews import PREVIEWS_PATH
from onair_crds.resources.base import MAX_URL
from onair_crds.runtime import rotated_secret
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest import streams_api
from onair_ingest.readers.routes import ReaderRoutes
from onair_ingest.streams_api import StreamsApi

SECRET = b"the installation's"
STREAM = "a" * 32


class Taken:
    """Pulls that are only counted, and streams that are only noted."""

    def __init__(self) -> None:
        self.count = 0
        self.disconnected: list[str] = []

    async def set(self, wanted: Pulls) -> None:
        self.count = len(wanted.pulls)

    async def disconnect(self, stream: str) -> bool:
        self.disconnected.append(stream)
        return True

    async def follow(self) -> AsyncIterator[Heartbeat]:
        yield Heartbeat()
        await asyncio.Event().wait()


@pytest.fixture
def pulls() -> Taken:
    return Taken()


@pytest.fixture
def secret() -> RotatedSecret:
    return RotatedSecret(SECRET)


@pytest.fixture
async def port(pulls: Taken, secret: RotatedSecret) -> AsyncIterator[int]:
    nothing, taken = cast(Any, None), cast(Any, pulls)
    runner = await StreamsApi(taken, taken, nothing, secret, ReaderRoutes(nothing, secret)).start(0)
    yield next(address[1] for address in runner.addresses if len(address) == 2)  # of IPv4
    await runner.cleanup()


async def status_of(reader: asyncio.StreamReader) -> int:
    return int((await reader.readline()).split()[1])


@pytest.fixture
def ask(port: int) -> Callable[[bytes], Any]:
    """Sends a request as it is; gives the status of the response."""

    async def send(request: bytes) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        status = await status_of(reader)
        writer.close()
        return status

    return send


def operators(line: str, term: int | None, body: bytes = b"") -> bytes:
    """A request of the operator's, with the term of a leader."""
    shown = "" if term is None else f"{TERM_HEADER}: {term}\r\n"
    token = f"Authorization: Bearer {gateway_token(SECRET, 'operator')}\r\n"
    head = f"{line} HTTP/1.1\r\nHost: gateway\r\n{token}{shown}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize("shown", [b"", b"Bearer ", b"Bearer \xff\xfe", "Bearer \U0001f511".encode()])
@pytest.mark.parametrize(
    "request_line",
    [
        f"GET {STREAMS_PATH}",
        f"PUT {PULLS_PATH}",
        f"GET {PREVIEWS_PATH}",
        f"PUT {PREVIEWS_PATH}/room",
        f"DELETE {STREAMS_PATH}/{STREAM}",
        f"GET {STREAMS_PATH}/{STREAM}/access-units",
    ],
)
async def test_strangers_are_refused_whatever_they_show(
    ask: Callable[[bytes], Any], request_line: str, shown: bytes
) -> None:
    head = f"{request_line} HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\nAuthorization: ".encode()
    assert await ask(head + shown + b"\r\n\r\n") == 401


async def test_thousands_of_pulls_with_the_longest_urls_are_taken(
    ask: Callable[[bytes], Any], pulls: Taken
) -> None:
    url = "rtmp://media.example/live/"
    longest = Pull(url=SecretStr(url.ljust(MAX_URL, "a")))
    body = Pulls(pulls={f"pull-{number}": longest for number in range(10_000)}).wire().encode()
    assert await ask(operators(f"PUT {PULLS_PATH}", None, body)) == 204
    assert pulls.count == 10_000


ONE = Pulls(pulls={"pull-a": Pull(url=SecretStr("rtmp://media.example/live/a"))}).wire().encode()
TWO = Pulls(pulls={name: Pull(url=SecretStr("rtmp://media.example/live/a")) for name in ("pull-a", "pull-b")})
PUT, DELETE = f"PUT {PULLS_PATH}", f"DELETE {STREAMS_PATH}/{STREAM}"


async def test_what_a_former_leader_wants_comes_too_late(ask: Callable[[bytes], Any], pulls: Taken) -> None:
    assert await ask(operators(PUT, 8, ONE)) == 204
    assert await ask(operators(PUT, 7, TWO.wire().encode())) == 409
    assert await ask(operators(DELETE, 7)) == 409
    assert await ask(operators(f"PUT {PREVIEWS_PATH}/room", 7, b"{}")) == 409
    assert (pulls.count, pulls.disconnected) == (1, [])
    assert await ask(operators(DELETE, 8)) == 204


async def test_pulls_of_a_former_leader_are_refused_though_they_were_begun_before(
    port: int, ask: Callable[[bytes], Any], pulls: Taken
) -> None:
    begun = operators(PUT, 7, TWO.wire().encode())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(begun[:-10])
    assert await ask(operators(PUT, 8, ONE)) == 204
    writer.write(begun[-10:])
    assert await status_of(reader) == 409
    writer.close()
    assert pulls.count == 1


async def test_pulls_that_do_not_come_whole_are_not_waited_for(
    port: int, pulls: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams_api, "BODY_TIMEOUT_S", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(operators(PUT, 8, ONE)[:-1])
    assert await status_of(reader) == 408
    writer.close()
    assert pulls.count == 0


async def test_who_follows_by_a_token_that_counts_no_more_is_disconnected(
    port: int, secret: RotatedSecret, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotated_secret, "LOOK_S", 0.01)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(operators(f"GET {STREAMS_PATH}", 8))
    await reader.readuntil(b"}")
    secret.replace(b"another one of the installation")
    monkeypatch.setattr(rotated_secret, "FORMER_S", 0.0)
    async with asyncio.timeout(5):
        await reader.readuntil(b"0\r\n\r\n")
    writer.close()
