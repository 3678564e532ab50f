"""Who asks a gateway without a token learns nothing, whatever they send; the operator may say much."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import PULLS_PATH, STREAMS_PATH, Pull, Pulls, gateway_token
from onair_crds.contract.previews import PREVIEWS_PATH
from onair_crds.resources.base import MAX_URL
from onair_ingest.readers.routes import ReaderRoutes
from onair_ingest.streams_api import StreamsApi

SECRET = b"the installation's"
STREAM = "a" * 32


class Taken:
    """Pulls that are only counted."""

    def __init__(self) -> None:
        self.count = 0

    async def set(self, wanted: Pulls) -> None:
        self.count = len(wanted.pulls)


@pytest.fixture
def pulls() -> Taken:
    return Taken()


@pytest.fixture
async def ask(pulls: Taken) -> AsyncIterator[Callable[[bytes], Any]]:
    """Sends a request as it is; gives the status of the response."""
    nothing = cast(Any, None)
    runner = await StreamsApi(
        nothing, cast(Any, pulls), nothing, SECRET, ReaderRoutes(nothing, SECRET)
    ).start(0)
    port = next(address[1] for address in runner.addresses if len(address) == 2)  # of IPv4

    async def send(request: bytes) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        status = int((await reader.readline()).split()[1])
        writer.close()
        return status

    yield send
    await runner.cleanup()


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
    head = (
        f"PUT {PULLS_PATH} HTTP/1.1\r\nHost: gateway\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: Bearer {gateway_token(SECRET, 'operator')}\r\n\r\n"
    )
    assert await ask(head.encode() + body) == 204
    assert pulls.count == 10_000
