"""A pull gets past addresses of its server that are silent, and says why where there is no other."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.certificate_authority import CertificateAuthority
from tests.support.delivery.silent_address import SILENT_HOST, silent_port

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.runtime import first_to_succeed
from onair_ingest.pulls import relay as relay_module
from onair_ingest.pulls.address import parse_address
from onair_ingest.pulls.address_guard import AddressGuard, PullRefused
from onair_ingest.pulls.relay import Relay

NAME, HERE, NOBODY = "origin.example.org", "127.0.0.1", "127.0.0.3"


class Resolved(AddressGuard):
    """Gives a name the addresses of a test."""

    def __init__(self, *addresses: str) -> None:
        super().__init__(InsideRules())
        self._addresses = [*addresses]

    async def resolve(self, host: str, port: int) -> list[str]:
        return self._addresses


def relay(scheme: str, port: int, *addresses: str, tls: ssl.SSLContext | None = None) -> Relay:
    address = parse_address(f"{scheme}://{NAME}:{port}/live/x")
    return Relay(address, Resolved(*addresses), tls or ssl.create_default_context())


@asynccontextmanager
async def listening(host: str, port: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that takes connections and says nothing by itself; its port."""
    waits = asyncio.Event()

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await waits.wait()
        writer.close()

    server = await asyncio.start_server(hold, host, port, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        waits.set()
        await asyncio.sleep(0)


async def peer_of(relay: Relay) -> str:
    _, writer = await relay._connect()
    peer: str = writer.get_extra_info("peername")[0]
    writer.close()
    return peer


async def test_a_silent_address_does_not_take_the_time_of_the_next() -> None:
    with silent_port() as port:
        async with listening(HERE, port):
            assert await peer_of(relay("rtmp", port, SILENT_HOST, NOBODY, HERE)) == HERE


async def test_an_address_that_stalls_in_its_tls_handshake_does_not_either(tmp_path: Path) -> None:
    authority = CertificateAuthority(tmp_path)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(*authority.issue_for(NAME))
    trusts = ssl.create_default_context(cafile=str(authority.certificate))
    async with listening(SILENT_HOST, 0) as port, listening(HERE, port, served):
        assert await peer_of(relay("rtmps", port, SILENT_HOST, HERE, tls=trusts)) == HERE


async def test_the_reason_is_that_of_an_address_that_gave_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "CONNECT_S", 1.0)
    monkeypatch.setattr(first_to_succeed, "NEXT_S", 0.0)
    with silent_port() as port:
        for addresses, why in [
            ((SILENT_HOST,), "does not respond"),
            ((NOBODY,), "refused the connection"),
            ((SILENT_HOST, NOBODY), "refused the connection"),
        ]:
            with pytest.raises(PullRefused, match=f"^{NAME}:{port} {why}$"):
                await relay("rtmp", port, *addresses)._connect()
