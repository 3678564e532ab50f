"""Publishers are cut off where no source takes them, and left alone where one does."""

from __future__ import annotations

import pytest
from tests.support.gateway_server import stream_state
from tests.support.sources import KEY_STREAM, sighting, source
from tests.support.worlds import NOW, SETTINGS

from onair_crds.resources.source import Source
from onair_operator.cluster.actions import CutOff, Requeue, ResourceEvent
from onair_operator.cluster.queue import Key
from onair_operator.ingest.observed import GatewayContact, Sighting
from onair_operator.stream.observe import ObservedStream
from onair_operator.stream.plan import make_plan

HERE = sighting(stream_state(KEY_STREAM))


def cut_offs(its_source: Source | None, *sightings: Sighting) -> list[CutOff]:
    plan = make_plan(ObservedStream(KEY_STREAM, its_source, sightings), NOW, SETTINGS)
    return [each for each in plan if isinstance(each, CutOff)]


def test_the_publisher_of_a_source_stays() -> None:
    assert cut_offs(source(), HERE) == []


@pytest.mark.parametrize(
    "its_source",
    [
        source({"rtmpPush": {"enabled": False}}),
        source({"srtPush": {}}),
        source(deletionTimestamp="2026-05-01T12:00:00Z"),
    ],
    ids=["disabled", "of another protocol now", "under deletion"],
)
def test_a_publisher_that_its_source_does_not_take_is_cut_off(its_source: Source) -> None:
    assert cut_offs(its_source, HERE) == [CutOff("ingest-0", KEY_STREAM)]


def test_a_publisher_without_a_source_is_cut_off_wherever_it_is_once_that_is_certain() -> None:
    assert cut_offs(None, HERE, sighting(stream_state(KEY_STREAM), "ingest-1")) == [
        CutOff("ingest-0", KEY_STREAM, unknown=True),
        CutOff("ingest-1", KEY_STREAM, unknown=True),
    ]


def test_it_is_looked_at_again_until_it_is_gone() -> None:
    plan = make_plan(ObservedStream(KEY_STREAM, None, (HERE,)), NOW, SETTINGS)
    assert plan[-1] == Requeue(Key("Stream", KEY_STREAM), 1.0)
    gone = sighting(stream_state(KEY_STREAM, online=False))
    assert make_plan(ObservedStream(KEY_STREAM, None, (gone,)), NOW, SETTINGS) == []


def test_what_cannot_be_seen_is_not_cut_off() -> None:
    unreachable = sighting(stream_state(KEY_STREAM), contact=GatewayContact.UNREACHABLE)
    assert cut_offs(None, unreachable) == []


def test_a_pull_ends_by_what_its_gateway_is_told_to_pull() -> None:
    assert cut_offs(None, sighting(stream_state("pull-relay", protocol="pull"))) == []


BESIDE = sighting(stream_state(KEY_STREAM), "ingest-1")


def connected(gateway: str = "ingest-0", **status: object) -> Source:
    held = {"connect": "Connected", "gateway": gateway, "stream": KEY_STREAM, **status}
    return source(status=held)


@pytest.mark.parametrize(("holder", "ends"), [("ingest-0", "ingest-1"), ("ingest-1", "ingest-0")])
def test_of_two_publishers_of_a_key_the_one_of_the_status_stays(holder: str, ends: str) -> None:
    its_source = connected(holder)
    plan = make_plan(ObservedStream(KEY_STREAM, its_source, (HERE, BESIDE)), NOW, SETTINGS)
    assert plan == [
        CutOff(ends, KEY_STREAM),
        ResourceEvent(
            its_source,
            "SecondPublisher",
            f"disconnected: {ends} had a second publisher, while {holder} has one",
            warning=True,
        ),
        Requeue(Key("Stream", KEY_STREAM), 1.0),
    ]


@pytest.mark.parametrize(
    "its_source",
    [
        source(),
        connected("ingest-2"),
        connected(connect="Disconnected"),
        connected(stream="another"),
    ],
    ids=["no status yet", "of another gateway", "not connected", "of another key"],
)
def test_nobody_is_cut_off_before_it_is_written_who_stays(its_source: Source) -> None:
    assert cut_offs(its_source, HERE, BESIDE) == []


def test_the_holder_that_is_silent_gives_way_when_that_is_written() -> None:
    silent = sighting(stream_state(KEY_STREAM, flowing=False))
    assert cut_offs(connected(), silent, BESIDE) == []
    assert cut_offs(connected("ingest-1"), silent, BESIDE) == [CutOff("ingest-0", KEY_STREAM)]


def test_a_gateway_that_may_have_just_died_ends_nobody_who_comes_from_it() -> None:
    """Until it is known to be unreachable, its streams are as it told them last."""
    later = sighting(stream_state(KEY_STREAM), "ingest-1", came_s=2.0)
    plan = make_plan(ObservedStream(KEY_STREAM, connected(), (HERE, later)), NOW, SETTINGS)
    assert plan == [Requeue(Key("Stream", KEY_STREAM), 0.1)]
    heard = sighting(stream_state(KEY_STREAM), heard_s=2.1)
    assert cut_offs(connected(), heard, later) == [CutOff("ingest-1", KEY_STREAM)]
