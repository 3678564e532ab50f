"""Requests to storages that are slow, stalled or out for a moment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.delivery.bucket import hls_publisher, names, text_of, until_connected, until_error
from tests.support.delivery.live_program import live_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.waiting import until

from onair_crds.contract.program import DestinationState

pytestmark = pytest.mark.media


async def test_a_slow_storage_is_connected_and_a_stalled_one_is_not(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        slow = server.destination(endpoint=f"http://127.0.0.1:{port}")
        publisher = hls_publisher(slow, fan_out)
        await proxy.poison("storage", "latency", latency=150)
        await until_connected(publisher)
        await proxy.poison("storage", "timeout", timeout=0)
        words = await until_error(publisher)
        assert "stalled" in words or "no response" in words
        await proxy.heal("storage", "timeout")
        await until_connected(publisher, 30)
        publisher.abort()


async def test_rotated_keys_do_not_cancel_what_is_under_way(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        slow = server.destination(endpoint=f"http://127.0.0.1:{port}", timeout_ms=3000)
        states: list[DestinationState] = []
        publisher = hls_publisher(slow, fan_out, lambda: states.append(publisher.destination.state))
        await until_connected(publisher)
        await proxy.poison("storage", "latency", latency=1000)
        stored = publisher.destination.state.bytes_sent
        await until(lambda: publisher.destination.counters.queued_bytes > 0, "a segment is on its way")
        token = server.destination(endpoint=f"http://127.0.0.1:{port}", acl="private", timeout_ms=3000)
        assert publisher.update(token)
        await until(lambda: publisher.destination.state.bytes_sent > stored, "it arrives")
        assert [state.connect for state in states] == ["Connected"]
        publisher.abort()


async def test_a_storage_that_responds_later_than_the_timeout_is_connected(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        await proxy.poison("storage", "latency", latency=200)
        far = server.destination(endpoint=f"http://127.0.0.1:{port}", timeout_ms=100)
        states: list[DestinationState] = []
        publisher = hls_publisher(far, fan_out, lambda: states.append(publisher.destination.state))
        await until_connected(publisher)
        assert not [state.last_error for state in states if state.last_error]
        publisher.abort()


async def test_an_outage_within_the_timeout_is_not_reported(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        states: list[str] = []
        recorded = server.destination(vod=True, timeout_ms=10_000)
        publisher = hls_publisher(
            recorded, fan_out, lambda: states.append(publisher.destination.state.connect)
        )
        await until_connected(publisher)
        stored = len(names(text_of(folder / "run.m3u8")))
        server.stop()
        await until(lambda: publisher.destination.counters.queued_bytes > 0, "a segment waits")
        await server.start()
        await until(lambda: len(names(text_of(folder / "run.m3u8"))) > stored, "it is stored")
        publisher.abort()
        assert states == ["Connected"]
