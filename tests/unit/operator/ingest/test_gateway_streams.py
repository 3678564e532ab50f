"""The newest word of each gateway is kept, and it is said what it bears on."""

from __future__ import annotations

import pytest
from tests.support.gateway_server import stream_state

from onair_operator.ingest.gateway_streams import ENDED_KEPT, GatewayStreams, News
from onair_operator.ingest.observed import GatewayContact
from onair_operator.settings import GatewaySettings

GATEWAYS = [
    GatewaySettings(name=name, region="eu-central-1", url=f"http://{name}:8448") for name in ("one", "two")
]


@pytest.fixture
def news() -> list[News]:
    return []


@pytest.fixture
def streams(news: list[News]) -> GatewayStreams:
    return GatewayStreams(GATEWAYS, news.append)


def online(streams: GatewayStreams, stream: str) -> list[tuple[str, bool]]:
    return [(each.gateway.name, each.online) for each in streams.sightings(stream)]


def test_nothing_is_known_before_a_gateway_has_told_all(streams: GatewayStreams, news: list[News]) -> None:
    assert {each.contact for each in streams.gateways} == {GatewayContact.AWAITED}
    streams.told_all("one", [stream_state("a")])
    assert online(streams, "a") == [("one", True)]
    assert [each.contact for each in streams.gateways] == [GatewayContact.REACHABLE, GatewayContact.AWAITED]
    assert news == [News("one", frozenset({"a"}), contact=True)]


def test_what_is_not_among_all_is_gone(streams: GatewayStreams, news: list[News]) -> None:
    streams.told_all("one", [stream_state("a"), stream_state("b")])
    streams.told_all("one", [stream_state("b")])
    assert online(streams, "a") == []
    assert news[-1] == News("one", frozenset({"a", "b"}), contact=True)


def test_a_stream_that_ended_is_remembered_for_its_cause(streams: GatewayStreams, news: list[News]) -> None:
    streams.told_all("one", [stream_state("a")])
    streams.told("one", stream_state("a", online=False, error="cut"))
    assert online(streams, "a") == [("one", False)]
    assert news[-1] == News("one", frozenset({"a"}))


def test_an_unreachable_gateway_has_nothing_for_certain(streams: GatewayStreams, news: list[News]) -> None:
    streams.told_all("one", [stream_state("a")])
    streams.unreachable("one")
    assert online(streams, "a") == [("one", False)]
    assert news[-1] == News("one", frozenset({"a"}), contact=True)
    streams.told_all("one", [stream_state("a")])
    assert online(streams, "a") == [("one", True)]


def test_ended_streams_are_bounded(streams: GatewayStreams) -> None:
    streams.told_all("one", [])
    for number in range(ENDED_KEPT + 5):
        streams.told("one", stream_state(f"s{number}", online=False))
    assert online(streams, "s4") == []
    assert online(streams, "s5") == [("one", False)]


def test_it_is_known_when_a_stream_came_and_when_its_gateway_was_heard() -> None:
    now_s = 5.0
    streams = GatewayStreams(GATEWAYS, clock=lambda: now_s)

    def times(stream: str) -> tuple[float, float]:
        (found,) = streams.sightings(stream)
        return found.came_s, found.gateway.heard_s

    streams.told_all("one", [stream_state("a")])
    now_s = 6.0
    streams.told("one", stream_state("a", flowing=False))
    streams.told("one", stream_state("b"))
    assert (times("a"), times("b")) == ((5.0, 5.0), (6.0, 5.0))
    now_s = 7.0
    streams.heard("one")
    assert times("a") == (5.0, 7.0)
    streams.told("one", stream_state("a", online=False))
    streams.told("one", stream_state("a"))
    assert times("a") == (7.0, 7.0)
