"""Sources on a real API server: their states, keys and ends follow what gateways say."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from tests.support.gateway_server import GatewayServer, stream_state
from tests.support.ingest_operator import camera, cut_off, key_stream, operated, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import WITHIN_S, until

from onair_crds.contract.ingest_gateway import (
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    Heartbeat,
    RefusedPublisher,
)
from onair_crds.kube.apis import CUSTOM, EVENTS, SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import JsonObject
from onair_operator.cluster import ingest_secret
from onair_operator.source.events import PREVIEW_WAITS

EVENTS_S = 2.0
"""Twice the bound."""


@pytest.fixture
async def server() -> AsyncIterator[GatewayServer]:
    async with GatewayServer().running() as server:
        yield server


@pytest.fixture
async def other() -> AsyncIterator[GatewayServer]:
    async with GatewayServer("ingest-1").running() as other:
        yield other


@pytest.fixture
async def operator(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> AsyncIterator[AsyncExitStack]:
    """Follows `server`, until it is closed, at the end of the test at the latest."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(operated(operated_namespace, server.settings))
        await operated_namespace.collection()
        yield stack


@pytest.fixture
async def operator_of_two(
    operated_namespace: OperatedNamespace, server: GatewayServer, other: GatewayServer
) -> AsyncIterator[None]:
    async with operated(operated_namespace, server.settings, other.settings):
        await operated_namespace.collection()
        yield


@pytest.fixture
async def connected(
    operated_namespace: OperatedNamespace, operator: AsyncExitStack, server: GatewayServer
) -> str:
    """The stream by which the source `camera` is connected."""
    stream = await camera(operated_namespace)
    server.tell(stream_state(stream))
    await status_with(operated_namespace, connect="Connected")
    return stream


@pytest.mark.usefixtures("operator")
async def test_a_source_of_kubectl_gets_a_key_and_is_connected_within_a_second(
    operated_namespace: OperatedNamespace, server: GatewayServer
) -> None:
    stream = await camera(operated_namespace)
    never = await status_with(operated_namespace, connect="Disconnected", lastError="never connected")
    assert never["address"]["secretName"] == "source-camera"
    began = time.monotonic()
    server.tell(stream_state(stream))
    status = await status_with(operated_namespace, connect="Connected", gateway=server.name)
    assert time.monotonic() - began < WITHIN_S
    assert status["media"]["summary"] == "H.264 1280×720@30, AAC 48 kHz stereo"
    began = time.monotonic()
    server.tell(stream_state(stream, online=False, flowing=False, error="the connection was reset"))
    await status_with(operated_namespace, connect="Disconnected", lastError="the connection was reset")
    assert time.monotonic() - began < WITHIN_S

    refused = RefusedPublisher(stream=stream, reason="InUse", publisher="203.0.113.40")
    server.say(Heartbeat(refused=[refused], waiting=[stream]).wire().encode())

    async def told() -> bool:
        items = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))["items"]
        of_it = [(e["reason"], e["message"]) for e in items if e["involvedObject"]["kind"] == "Source"]
        return sorted(of_it) == [
            ("PreviewWaits", PREVIEW_WAITS),
            ("PublisherRefused", "a second publisher tried the key of camera from 203.0.113.40"),
            ("SourceConnected", "RTMP publisher from 198.51.100.7: H.264 1280×720@30, AAC 48 kHz stereo"),
            ("SourceDisconnected", "the connection was reset"),
        ]

    await until(told, "events")
    assert time.monotonic() - began < EVENTS_S


async def test_a_source_that_is_disabled_is_cut_off_within_a_second(
    operated_namespace: OperatedNamespace, server: GatewayServer, connected: str
) -> None:
    began = time.monotonic()
    await operated_namespace.patch("Source", "camera", {"address": {"rtmpPush": {"enabled": False}}})
    await cut_off(server, connected)
    await status_with(operated_namespace, connect="Disconnected", lastError="the source is disabled")
    assert time.monotonic() - began < WITHIN_S


async def test_a_source_that_is_deleted_is_cut_off_within_a_second(
    operated_namespace: OperatedNamespace, server: GatewayServer, connected: str
) -> None:
    began = time.monotonic()
    await operated_namespace.client.delete(CUSTOM["Source"], operated_namespace.namespace, "camera")
    await cut_off(server, connected)
    assert time.monotonic() - began < WITHIN_S


async def test_a_key_that_was_replaced_lives_until_it_disconnects(
    operated_namespace: OperatedNamespace, server: GatewayServer, connected: str
) -> None:
    await operated_namespace.client.delete(SECRETS, operated_namespace.namespace, "source-camera")
    stream = await key_stream(operated_namespace, other_than=connected)
    await status_with(operated_namespace, connect="Connected", stream=connected, replacedKey=True)
    server.tell(stream_state(connected, online=False, flowing=False))
    await status_with(operated_namespace, connect="Disconnected", stream=None)
    assert server.cut_off == []
    server.tell(stream_state(connected))
    await cut_off(server, connected)
    server.tell(stream_state(stream))
    await status_with(operated_namespace, connect="Connected", stream=stream, replacedKey=None)


@pytest.mark.usefixtures("operator")
async def test_a_publisher_that_no_source_has_is_cut_off(server: GatewayServer) -> None:
    server.tell(stream_state("nobodys"))
    await cut_off(server, "nobodys")


async def test_states_survive_another_leader_and_tell_the_truth_of_a_gateway_that_is_lost(
    operated_namespace: OperatedNamespace, server: GatewayServer, operator: AsyncExitStack, connected: str
) -> None:
    await operator.aclose()
    server.hung.set()
    async with operated(operated_namespace, server.settings):
        began = time.monotonic()
        lost = f"the ingest server {server.name} is unreachable"
        await status_with(operated_namespace, connect="Disconnected", lastError=lost, unknown=True)
        assert time.monotonic() - began > 2.0, "it was given the time to answer"
        server.hung.clear()
        await status_with(operated_namespace, connect="Connected", stream=connected, unknown=None)


async def test_a_source_whose_gateway_was_renamed_is_unknown_until_the_new_one_has_told(
    operated_namespace: OperatedNamespace, other: GatewayServer, operator: AsyncExitStack, connected: str
) -> None:
    await operator.aclose()
    other.hung.set()
    async with operated(operated_namespace, other.settings):
        told = await status_with(operated_namespace, connect="Disconnected")
        assert (told.get("unknown"), told.get("stream")) == (True, connected)
        other.tell(stream_state(connected))
        other.hung.clear()
        await status_with(operated_namespace, connect="Connected", gateway="ingest-1", unknown=None)
    # Its publisher does not come back.
    await other.stop()
    async with GatewayServer("ingest-2").running() as third:
        third.hung.set()
        async with operated(operated_namespace, third.settings):
            await status_with(operated_namespace, connect="Disconnected", unknown=True, gateway="ingest-1")
            third.hung.clear()
            await status_with(operated_namespace, connect="Disconnected", unknown=None, gateway=None)


@pytest.mark.usefixtures("operator_of_two")
async def test_a_publisher_moves_to_another_gateway(
    operated_namespace: OperatedNamespace, server: GatewayServer, other: GatewayServer
) -> None:
    stream = await camera(operated_namespace)
    server.tell(stream_state(stream))
    await status_with(operated_namespace, connect="Connected", gateway="ingest-0")
    await server.stop()
    other.tell(stream_state(stream))
    await status_with(operated_namespace, connect="Connected", gateway="ingest-1")
    assert other.cut_off == []


@pytest.mark.usefixtures("operator_of_two")
async def test_of_two_publishers_of_a_key_the_second_is_cut_off_within_a_second(
    operated_namespace: OperatedNamespace, server: GatewayServer, other: GatewayServer
) -> None:
    stream = await camera(operated_namespace)
    other.tell(stream_state(stream))
    await status_with(operated_namespace, connect="Connected", gateway="ingest-1")
    began = time.monotonic()
    server.tell(stream_state(stream))
    await cut_off(server, stream)
    assert time.monotonic() - began < WITHIN_S
    assert other.cut_off == []


@pytest.mark.usefixtures("operator_of_two")
async def test_a_pull_moves_when_its_gateway_is_unreachable_and_ends_with_its_source(
    operated_namespace: OperatedNamespace, server: GatewayServer, other: GatewayServer
) -> None:
    relay = {"rtmpPull": {"url": "rtmp://media.example/live/secret"}}
    await operated_namespace.create("Source", "camera", {"collectionId": "sunday", "address": relay})

    async def assigned() -> str | None:
        status = ((await operated_namespace.get("Source", "camera")) or {}).get("status", {})
        gateway: str | None = status.get("gateway")
        return gateway

    first = server if await until(assigned, "a gateway") == "ingest-0" else other
    second = other if first is server else server

    async def pulled(by: GatewayServer, streams: set[str]) -> None:
        async def check() -> bool:
            return bool(by.pulls) and set(by.pulls[-1].pulls) == streams

        await until(check, f"{by.name} pulls {streams}")

    await pulled(first, {"pull-camera"})
    first.tell(stream_state("pull-camera", protocol="pull"))
    await status_with(operated_namespace, connect="Connected", gateway=first.name)
    await first.stop()
    await pulled(second, {"pull-camera"})
    second.tell(stream_state("pull-camera", protocol="pull"))
    await status_with(operated_namespace, connect="Connected", gateway=second.name)
    await first.start()
    await pulled(first, set())
    await operated_namespace.client.delete(CUSTOM["Source"], operated_namespace.namespace, "camera")
    await pulled(second, set())


async def test_the_secret_of_ingest_is_replaced_without_a_restart(
    operated_namespace: OperatedNamespace, server: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_secret, "INTERVAL_S", 0.1)
    monkeypatch.setattr(ingest_secret, "SECRET_SETTLE_S", 0.5)
    async with operated(operated_namespace, server.settings):
        await operated_namespace.collection()
        stream = await camera(operated_namespace)
        server.tell(stream_state(stream))
        await status_with(operated_namespace, connect="Connected")
        await operated_namespace.client.delete(SECRETS, operated_namespace.namespace, INGEST_SECRET)

        async def made() -> bytes | None:
            try:
                secret = await operated_namespace.client.get(
                    SECRETS, operated_namespace.namespace, INGEST_SECRET
                )
            except ApiError:
                return None
            return base64.b64decode(secret["data"][INGEST_SECRET_KEY])

        new = await until(made, "a new secret")
        assert new != server.secret
        server.secret = new
        server.tell(stream_state(stream, online=False, flowing=False))
        await status_with(operated_namespace, connect="Disconnected")
        await operated_namespace.client.delete(CUSTOM["Source"], operated_namespace.namespace, "camera")
        server.tell(stream_state(stream))
        await cut_off(server, stream)


@pytest.mark.parametrize("data", [{"token": "YWJj"}, {INGEST_SECRET_KEY: "YWJj"}])
async def test_an_operator_leads_without_a_usable_secret_of_ingest_and_takes_it_once_there_is_one(
    operated_namespace: OperatedNamespace,
    server: GatewayServer,
    data: JsonObject,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody has written another key, or a short value."""
    monkeypatch.setattr(ingest_secret, "INTERVAL_S", 0.1)
    monkeypatch.setattr(ingest_secret, "SECRET_SETTLE_S", 0.1)
    client, namespace = operated_namespace.client, operated_namespace.namespace
    written = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": INGEST_SECRET}, "data": data}
    await client.create(SECRETS, namespace, written)
    async with operated(operated_namespace, server.settings):
        await operated_namespace.collection()
        await operated_namespace.project()
        await operated_namespace.phase("Waiting")
        stream = await camera(operated_namespace)
        server.tell(stream_state(stream))
        usable = {INGEST_SECRET_KEY: base64.b64encode(server.secret).decode()}
        await client.merge_patch(SECRETS, namespace, INGEST_SECRET, {"data": usable})
        await status_with(operated_namespace, connect="Connected")
