"""The window in which a server acknowledges; names with several addresses, in each event loop in use."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.support.certificate_authority import CertificateAuthority
from tests.support.delivery.silent_address import SILENT_HOST, silent_port

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideRules
from onair_crds.contract.program import ProgramDestination
from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.name_lookups import SocketAddress
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish import tls
from onair_encoder.publish.rtmp.output import RtmpOutput, open_streams
from onair_encoder.publish.supplied_destination import SuppliedDestination

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


@pytest.fixture
def context_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ssl.SSLContext]:
    """Makes contexts of servers whose certificates for a host are trusted."""
    authority, trusted = CertificateAuthority(tmp_path), tmp_path / "trusted"
    trusted.mkdir()
    (trusted / "ours.pem").write_bytes(authority.pem)
    monkeypatch.setattr(tls, "CA_CERTIFICATES", trusted)

    def make(host: str) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*authority.issue_for(host))
        return context

    return make


def test_where_one_address_is_silent_another_is_taken(
    run: Callable[[Story], None], resolve: Callable[..., None], refusing: tuple[str, int]
) -> None:
    """As that of IPv6 where the network drops it; to wait for it would take all the time there is."""

    async def story() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0)
        name = server.sockets[0].getsockname()
        with silent_port() as port:
            resolve((SILENT_HOST, port), refusing, name)
            _, writer = await open_streams(RtmpAddress.of("rtmp://a.example/live", "k"), EVERYWHERE)
            assert writer.get_extra_info("peername") == name
            writer.close()
        server.close()

    run(story)


def test_where_one_address_is_silent_in_tls_another_is_taken(
    run: Callable[[Story], None],
    resolve: Callable[..., None],
    context_for: Callable[[str], ssl.SSLContext],
) -> None:
    """As that of a proxy whose server is gone: each attempt would wait for it."""
    context = context_for("a.example")

    async def story() -> None:
        begun: list[asyncio.StreamWriter] = []
        opened: list[asyncio.StreamWriter] = []
        hung = await asyncio.start_server(lambda _, writer: begun.append(writer), HOST, 0)
        server = await asyncio.start_server(lambda _, writer: opened.append(writer), HOST, 0, ssl=context)
        name = server.sockets[0].getsockname()
        resolve(hung.sockets[0].getsockname(), name)
        _, writer = await open_streams(RtmpAddress.of("rtmps://a.example/live", "k"), EVERYWHERE)
        assert writer.get_extra_info("peername") == name
        assert len(begun) == 1, "the other one was asked first"
        for each in (writer, *begun, *opened):
            each.transport.abort()
        hung.close()
        server.close()

    run(story)


def test_what_a_server_says_of_tls_is_told_before_that_another_address_is_unreachable(
    run: Callable[[Story], None],
    resolve: Callable[..., None],
    refusing: tuple[str, int],
    context_for: Callable[[str], ssl.SSLContext],
) -> None:
    context = context_for("b.example")

    async def story() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0, ssl=context)
        for addresses in (
            (server.sockets[0].getsockname(), refusing),
            (refusing, server.sockets[0].getsockname()),
        ):
            resolve(*addresses)
            with pytest.raises(SessionError, match=r"the certificate is not for a\.example") as told:
                await open_streams(RtmpAddress.of("rtmps://a.example/live", "k"), EVERYWHERE)
            assert told.value.permanent
        server.close()

    run(story)


def test_where_all_refuse_it_is_a_refusal(
    run: Callable[[Story], None], resolve: Callable[..., None], refusing: tuple[str, int]
) -> None:
    async def story() -> None:
        resolve(refusing, refusing)
        with pytest.raises(SessionError, match=r"connection refused by a\.example:1935"):
            await open_streams(RtmpAddress.of("rtmp://a.example/live", "k"), EVERYWHERE)

    run(story)


def test_a_name_is_looked_up(run: Callable[[Story], None]) -> None:
    async def story() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0)
        url = f"rtmp://localhost:{server.sockets[0].getsockname()[1]}/live"
        _, writer = await open_streams(RtmpAddress.of(url, "k"), EVERYWHERE)
        assert writer.get_extra_info("peername")[0] == HOST
        writer.close()
        server.close()

    run(story)


def test_who_is_cancelled_leaves_no_connection(
    run: Callable[[Story], None], resolve: Callable[..., None]
) -> None:
    async def story() -> None:
        with silent_port() as port:
            resolve((SILENT_HOST, port))
            address = RtmpAddress.of("rtmp://a.example/live", "k")
            connecting = asyncio.create_task(open_streams(address, EVERYWHERE))
            await asyncio.sleep(0)
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            assert connecting.cancelled()

    run(story)


@pytest.mark.parametrize(
    ("bytes_per_s", "timeout_ms", "window"),
    [(80_000, 1000, 20_000), (80_000, 100, 2048), (500_000, 5000, 256 * 1024), (0, 5000, 2048)],
    ids=["a quarter of what comes within the timeout", "no less", "no more", "the bitrate is not known"],
)
def test_the_window_fits_the_timeout_four_times(bytes_per_s: int, timeout_ms: int, window: int) -> None:
    fan_out = FanOut()
    fan_out.nominal_bytes_per_s = bytes_per_s
    wanted = ProgramDestination(id="d", type="RTMP", url="rtmp://a.example/live", timeout_ms=timeout_ms)
    output = RtmpOutput(SuppliedDestination(wanted, fan_out, lambda: None))
    assert output._ack_window() == window
