"""Gateways that end, hang, lie and come back: their streams are known again, and never claimed meanwhile."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
from tests.support.gateway_server import SECRET, GatewayServer, stream_state
from tests.support.waiting import WITHIN_S, until

from onair_crds.contract.ingest_gateway import Heartbeat, Pull, Pulls, RefusedPublisher
from onair_operator.ingest import client, ended_streams
from onair_operator.ingest.gateways import Gateways
from onair_operator.ingest.observed import GatewayContact

TERM = 7
PULLS = Pulls(pulls={"pull-relay": Pull(url="rtmp://media.example/live/secret")})


@pytest.fixture
async def server() -> AsyncIterator[GatewayServer]:
    async with GatewayServer().running() as server:
        yield server


@pytest.fixture
def unreachable_after_s(monkeypatch: pytest.MonkeyPatch) -> float:
    """A patience that a test can wait for."""
    patience_s = 1.5
    monkeypatch.setattr(client, "UNREACHABLE_AFTER_S", patience_s)
    return patience_s


@asynccontextmanager
async def followed(
    server: GatewayServer,
    secret: bytes = SECRET,
    on_heartbeat: Callable[[Heartbeat], None] = lambda heartbeat: None,
) -> AsyncIterator[Gateways]:
    gateways = Gateways([server.settings], on_heartbeat=on_heartbeat)
    gateways.follow(secret, TERM)
    try:
        yield gateways
    finally:
        await gateways.close()


def contact(gateways: Gateways) -> GatewayContact:
    return gateways.streams.gateways[0].contact


def flows(gateways: Gateways, stream: str = "a") -> bool:
    return any(each.flowing for each in gateways.streams.sightings(stream))


def only_flows(gateways: Gateways, came: str, gone: str) -> bool:
    return flows(gateways, came) and not flows(gateways, gone)


async def test_streams_are_known_from_the_first_heartbeat_and_changes_at_once(server: GatewayServer) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        took_s = []
        for gone, came in (("a", "b"), ("b", "a"), ("a", "b")):
            began_s = time.monotonic()
            server.tell(stream_state(gone, flowing=False))
            server.tell(stream_state(came))
            await until(partial(only_flows, gateways, came, gone))
            took_s.append(time.monotonic() - began_s)
        assert max(took_s) < WITHIN_S
        assert min(took_s) < 0.5, took_s


async def test_a_gateway_that_restarts_within_the_patience_changes_nothing(server: GatewayServer) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        await server.stop()
        await server.start()
        server.tell(stream_state("b"))

        def back() -> bool:
            assert flows(gateways), "it was never in doubt"
            return flows(gateways, "b")

        await until(back, "the other stream is known")


@pytest.mark.parametrize("how", ["gone", "hung", "lying"])
async def test_a_gateway_that_is_silent_too_long_is_unreachable_until_it_is_back(
    server: GatewayServer, unreachable_after_s: float, how: str
) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        began = time.monotonic()
        if how == "gone":
            await server.stop()
        elif how == "hung":
            server.hung.set()
        else:
            server.lying = True
            server.say(b"<html>")
        await until(lambda: contact(gateways) is GatewayContact.UNREACHABLE)
        assert unreachable_after_s - 1.1 < time.monotonic() - began < unreachable_after_s + 1
        assert not flows(gateways)
        server.lying = False
        server.hung.clear()
        if how == "gone":
            await server.start()
        await until(lambda: flows(gateways))


async def test_a_gateway_that_was_never_there_is_unreachable_after_the_patience(
    unreachable_after_s: float,
) -> None:
    async with followed(GatewayServer()) as gateways:
        assert contact(gateways) is GatewayContact.AWAITED
        await until(lambda: contact(gateways) is GatewayContact.UNREACHABLE)


@pytest.mark.parametrize(
    "line",
    [b"x" * 200_000, b"{}", b'{"type": 1}', b"[" * 5000, b"\xff\xfe", b'"heartbeat"'],
    ids=["endless", "empty", "no type", "deep", "no text", "no object"],
)
async def test_what_no_gateway_says_costs_a_new_connection_and_no_state(
    server: GatewayServer, line: bytes
) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        connections = server.connections
        server.say(line)
        await until(lambda: server.connections > connections)
        await until(lambda: flows(gateways))
        assert contact(gateways) is GatewayContact.REACHABLE


async def test_what_only_newer_gateways_say_is_skipped(server: GatewayServer) -> None:
    heard: list[Heartbeat] = []
    server.tell(stream_state("a"))
    async with followed(server, on_heartbeat=heard.append) as gateways:
        await until(lambda: flows(gateways))
        connections = server.connections
        known = RefusedPublisher(stream="a", reason="InUse")
        newer = known.model_copy(update={"reason": "TooMany"})
        server.say(b'{"type": "load", "cpus": 2}')
        server.say(stream_state("b").model_copy(update={"protocol": "whip"}).wire().encode())
        server.say(b'{"type": "stream"}')
        server.say(Heartbeat.model_construct(refused=[newer, known]).wire().encode())
        server.tell(stream_state("c"))
        await until(lambda: flows(gateways, "c"))
        assert [each.refused for each in heard if each.refused] == [[known]]
        assert not gateways.streams.sightings("b")
        assert server.connections == connections


async def test_a_stream_that_is_published_in_an_unknown_way_is_no_longer_known(server: GatewayServer) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        server.tell(stream_state("a").model_copy(update={"protocol": "whip"}))
        await until(lambda: not gateways.streams.sightings("a"))
        server.tell(stream_state("a"))
        await until(lambda: flows(gateways))


async def test_pulls_that_fail_do_not_count_as_streams(
    server: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MAX_STREAMS", 2)
    failed = [stream_state(f"pull-{n}", protocol="pull", online=False, flowing=False) for n in range(4)]
    server.states = {each.stream: each for each in (*failed, stream_state("a"), stream_state("b"))}
    async with followed(server) as gateways:
        await until(lambda: contact(gateways) is GatewayContact.REACHABLE)
        assert len(gateways.streams.sightings("pull-3")) == 1
        connections = server.connections
        server.tell(stream_state("b", flowing=False))
        await until(lambda: not flows(gateways, "b"))
        assert server.connections == connections
        server.tell(stream_state("c"))
        await until(lambda: server.connections > connections, "three streams are too many")


async def test_all_that_is_unknown_and_all_wanted_pulls_are_taken_from_one_that_is_followed_anew(
    server: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended_streams, "ENDED_KEPT", 2)
    ended = {"online": False, "flowing": False}
    unknown = [stream_state(f"u{n}", unknown=True, **ended) for n in range(5)]
    failed = [stream_state(each, protocol="pull", **ended) for each in PULLS.pulls]
    for_good = [stream_state(f"s{n}", **ended) for n in range(5)]
    server.states = {each.stream: each for each in (*unknown, *failed, *for_good)}
    async with followed(server) as gateways:
        gateways.want_pulls(server.name, PULLS)
        await until(lambda: contact(gateways) is GatewayContact.REACHABLE)
        known = {each for each in server.states if gateways.streams.sightings(each)}
        assert known == {*(each.stream for each in (*unknown, *failed)), "s3", "s4"}


async def test_another_installations_gateway_says_nothing_to_us(
    server: GatewayServer, unreachable_after_s: float
) -> None:
    async with followed(server, b"of another one") as gateways:
        await until(lambda: contact(gateways) is GatewayContact.UNREACHABLE)
        gateways.cut_off(server.name, "a")
        assert server.cut_off == []


async def test_a_publisher_is_cut_off(server: GatewayServer) -> None:
    server.tell(stream_state("a"))
    async with followed(server) as gateways:
        await until(lambda: flows(gateways))
        gateways.cut_off(server.name, "a")
        await until(lambda: not flows(gateways))
        assert server.cut_off == ["a"]
        assert server.terms == {str(TERM)}, "whoever led before is known by it"


async def test_pulls_are_handed_over_until_they_are_taken_and_again_to_one_that_restarted(
    server: GatewayServer,
) -> None:
    await server.stop()
    async with followed(server) as gateways:
        gateways.want_pulls(server.name, PULLS)
        await server.start()
        await until(lambda: server.pulls == [PULLS])
        await server.stop()
        server.pulls.clear()
        await server.start()
        await until(lambda: server.pulls == [PULLS])


async def test_a_gateway_sends_nobody_elsewhere_with_what_is_to_be_pulled(server: GatewayServer) -> None:
    async with GatewayServer().running() as elsewhere, followed(server) as gateways:
        await until(lambda: contact(gateways) is GatewayContact.REACHABLE)
        server.redirects_to = f"http://127.0.0.1:{elsewhere.port}"
        gateways.want_pulls(server.name, PULLS)
        gateways.cut_off(server.name, "a")
        await until(lambda: server.asked["PUT"] > 1 and server.asked["DELETE"] > 0)
        server.redirects_to = None
        await until(lambda: server.pulls == [PULLS])
        assert not elsewhere.asked
