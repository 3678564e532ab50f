"""Names with several addresses, in each event loop that programs and tests run in."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from tests.support.delivery.silent_address import SILENT_HOST, silent_port

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules, SocketAddress
from onair_encoder.publish.rtmp.address import RtmpAddress, connected_socket

HOST = "127.0.0.1"
Story = Callable[[], Coroutine[Any, Any, None]]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop])
def run(request: pytest.FixtureRequest) -> Callable[[Story], None]:
    def run(story: Story) -> None:
        async def in_time() -> None:
            async with asyncio.timeout(10):
                await story()

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(in_time())

    return run


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives the name of a test these addresses."""

    def resolve(*them: tuple[str, int]) -> None:
        async def addresses(*_: object) -> list[SocketAddress]:
            return [(socket.AF_INET, each) for each in them]

        monkeypatch.setattr(InsideRules, "addresses", addresses)

    return resolve


@pytest.fixture
def refusing() -> tuple[str, int]:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return HOST, free.getsockname()[1]


def test_where_one_address_is_silent_another_is_taken(
    run: Callable[[Story], None], resolve: Callable[..., None], refusing: tuple[str, int]
) -> None:
    """As that of IPv6 where the network drops it; to wait for it would take all the time there is."""

    async def story() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0)
        name = server.sockets[0].getsockname()
        with silent_port() as port:
            resolve((SILENT_HOST, port), refusing, name)
            with await connected_socket("a.example", 1935, EVERYWHERE) as connection:
                assert connection.getpeername() == name
            _, writer = await RtmpAddress.of("rtmp://a.example/live", "k").connect(EVERYWHERE)
            assert writer.get_extra_info("peername") == name
            writer.close()
        server.close()

    run(story)


def test_where_all_refuse_it_is_a_refusal(
    run: Callable[[Story], None], resolve: Callable[..., None], refusing: tuple[str, int]
) -> None:
    async def story() -> None:
        resolve(refusing, refusing)
        with pytest.raises(ConnectionRefusedError):
            await connected_socket("a.example", 1935, EVERYWHERE)

    run(story)


def test_a_name_is_looked_up(run: Callable[[Story], None]) -> None:
    async def story() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0)
        with await connected_socket(
            "localhost", server.sockets[0].getsockname()[1], EVERYWHERE
        ) as connection:
            assert connection.getpeername()[0] == HOST
        server.close()

    run(story)


def test_who_is_cancelled_leaves_no_connection(
    run: Callable[[Story], None], resolve: Callable[..., None]
) -> None:
    async def story() -> None:
        with silent_port() as port:
            resolve((SILENT_HOST, port))
            connecting = asyncio.create_task(connected_socket("a.example", 1935, EVERYWHERE))
            await asyncio.sleep(0)
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            assert connecting.cancelled()

    run(story)
