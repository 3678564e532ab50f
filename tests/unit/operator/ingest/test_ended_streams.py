"""What must not be taken for ended for good is not forgotten, and all of it is bounded."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.gateway_server import stream_state

from onair_crds.contract.ingest_gateway import StreamState
from onair_operator.ingest import ended_streams
from onair_operator.ingest.ended_streams import EndedStreams


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended_streams, "ENDED_KEPT", 2)
    monkeypatch.setattr(ended_streams, "MAX_STREAMS", 4)


def states(prefix: str, **changes: Any) -> list[StreamState]:
    return [stream_state(f"{prefix}{n}", online=False, flowing=False, **changes) for n in range(6)]


def remembered(ended: EndedStreams) -> set[str]:
    return {each.stream for each in ended}


def test_each_kind_has_a_bound_of_its_own() -> None:
    ended = EndedStreams({f"pull-{n}" for n in range(5)})
    for state in (*states("u", unknown=True), *states("pull-", protocol="pull"), *states("s")):
        ended.put(state)
    wanted = {f"pull-{n}" for n in range(5)}
    assert remembered(ended) == {"u2", "u3", "u4", "u5", *wanted, "s4", "s5"}


def test_pulls_are_bounded_before_it_is_known_which_are_wanted() -> None:
    ended = EndedStreams()
    for state in states("pull-", protocol="pull"):
        ended.put(state)
    assert remembered(ended) == {f"pull-{n}" for n in range(2, 6)}
    ended.want({"pull-3"})
    assert remembered(ended) == {"pull-3", "pull-4", "pull-5"}
    assert ended.wanted == {"pull-3"}


def test_the_newest_word_counts() -> None:
    ended = EndedStreams()
    unknown, known = stream_state("a", online=False, unknown=True), stream_state("a", online=False)
    ended.put(unknown)
    assert ended.get("a") == unknown
    ended.put(known)
    assert list(ended) == [known]
    assert ended.pop("a") == known
    assert (ended.get("a"), ended.pop("a")) == (None, None)
