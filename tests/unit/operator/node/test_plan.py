"""Which nodes are dead."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.support.worlds import NOW, SETTINGS

from onair_operator.cluster.actions import DeleteIngestPod, MarkNode, Requeue
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.queue import Key
from onair_operator.node.observe import ObservedNode
from onair_operator.node.plan import dead_nodes, make_plan

FRESH, STALE = 9.9, 12.6
INGEST_POD = LeavingPod("onair-ingest-0", "u", "c")
ONE_STALE = {"a": FRESH, "b": FRESH, "c": STALE}


@pytest.mark.parametrize(
    ("unchanged_s", "dead"),
    [
        (ONE_STALE, {"c"}),
        ({"a": FRESH, "b": STALE, "c": STALE}, set()),
        ({"a": FRESH, "b": STALE}, {"b"}),
        ({"a": STALE, "b": STALE}, set()),
        ({"a": STALE}, set()),
        ({}, set()),
    ],
    ids=["one", "most: the API server was unavailable", "one of two", "all", "the only one", "nothing known"],
)
def test_a_node_is_dead_when_it_alone_is_silent(unchanged_s: Mapping[str, float], dead: set[str]) -> None:
    assert dead_nodes(unchanged_s) == dead


@pytest.mark.parametrize(
    ("name", "silent", "dead", "unchanged_s", "marked"),
    [
        ("c", True, False, ONE_STALE, True),
        ("c", False, False, ONE_STALE, None),
        ("c", False, True, ONE_STALE, None),
        ("a", True, False, ONE_STALE, None),
        ("a", False, True, ONE_STALE, False),
        ("c", True, True, {}, False),
    ],
    ids=[
        "silent and stale",
        "stale, but its encoders report",
        "dead already",
        "silent, but alive",
        "back again",
        "nobody knows",
    ],
)
def test_a_suspect_node_is_marked_when_that_changes(
    name: str, silent: bool, dead: bool, unchanged_s: Mapping[str, float], marked: bool | None
) -> None:
    observed = ObservedNode(name, silent, dead, unchanged_s, frozenset({"show"}))
    plan = make_plan(observed, NOW, SETTINGS)
    looks = [MarkNode(name, dead=bool(marked)), Requeue(Key("Project", "show"), 0.0)]
    assert plan == ([] if marked is None else looks)


@pytest.mark.parametrize("known", [True, False], ids=["dead already", "just found dead"])
def test_an_ingest_pod_that_a_dead_node_is_to_end_is_deleted(known: bool) -> None:
    observed = ObservedNode("c", True, known, ONE_STALE, leaving=(INGEST_POD,))
    found = [] if known else [MarkNode("c", dead=True)]
    assert make_plan(observed, NOW, SETTINGS) == [*found, DeleteIngestPod(INGEST_POD)]


@pytest.mark.parametrize(
    ("dead", "unchanged_s"),
    [
        (False, {"a": FRESH, "b": FRESH, "c": FRESH}),
        (False, {"a": FRESH, "b": STALE, "c": STALE}),
        (True, {"a": FRESH, "b": FRESH, "c": FRESH}),
        (False, {}),
    ],
    ids=["it is alive", "the API server was unavailable", "it is back again", "nobody knows"],
)
def test_an_ingest_pod_is_left_to_a_node_that_may_end_it(
    dead: bool, unchanged_s: Mapping[str, float]
) -> None:
    observed = ObservedNode("c", True, dead, unchanged_s, leaving=(INGEST_POD,))
    assert not [each for each in make_plan(observed, NOW, SETTINGS) if isinstance(each, DeleteIngestPod)]
