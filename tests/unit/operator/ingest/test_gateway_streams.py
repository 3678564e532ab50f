"""The newest word of each gateway is kept, and it is said what it bears on."""

from __future__ import annotations

import pytest
from tests.support.gateway_server import stream_state

from onair_operator.ingest.ended_streams import ENDED_KEPT
from onair_operator.ingest.gateway_streams import GatewayStreams, News
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


def test_all_streams_of_a_server_that_ended_are_unknown_until_it_is_back(streams: GatewayStreams) -> None:
    names = [f"s{number}" for number in range(3 * ENDED_KEPT)]
    ended = [stream_state(each, online=False, flowing=False, unknown=True) for each in names]
    for told_once in (False, True):
        streams.told_all("one", ended if told_once else map(stream_state, names))
        for each in () if told_once else ended:
            streams.told("one", each)
        assert all(found.state.unknown for each in names for found in streams.sightings(each))
        assert all(len(streams.sightings(each)) == 1 for each in names)
    for name in names:
        streams.told("one", stream_state(name, online=False, flowing=False))
    assert sum(len(streams.sightings(each)) for each in names) == ENDED_KEPT


def test_why_wanted_pulls_fail_is_remembered_of_all(streams: GatewayStreams) -> None:
    names = [f"pull-{number}" for number in range(3 * ENDED_KEPT)]
    failed = [stream_state(each, protocol="pull", online=False, flowing=False) for each in names]
    streams.told_all("one", failed)
    for each in failed:
        streams.told("one", each)
    streams.want_pulls("one", set(names))
    streams.told_all("one", failed)
    assert all(len(streams.sightings(each)) == 1 for each in names)
    streams.want_pulls("one", set(names[:5]))
    assert sum(len(streams.sightings(each)) for each in names) == 5 + ENDED_KEPT


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
