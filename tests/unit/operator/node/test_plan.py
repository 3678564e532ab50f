"""Which nodes are dead."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest
from tests.support.worlds import SETTINGS

from onair_crds.contract.times import parse_time
from onair_operator.cluster.actions import MarkNode, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.node.observe import ObservedNode
from onair_operator.node.plan import dead_nodes, make_plan

NOW = parse_time("2026-05-01T12:00:00Z")
FRESH, STALE = parse_time("2026-05-01T11:59:55Z"), parse_time("2026-05-01T11:59:40Z")
ONE_STALE = {"a": FRESH, "b": FRESH, "c": STALE}


@pytest.mark.parametrize(
    ("renewals", "dead"),
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
def test_a_node_is_dead_when_it_alone_is_silent(renewals: Mapping[str, datetime], dead: set[str]) -> None:
    assert dead_nodes(renewals, NOW) == dead


@pytest.mark.parametrize(
    ("name", "silent", "dead", "renewals", "marked"),
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
    name: str, silent: bool, dead: bool, renewals: Mapping[str, datetime], marked: bool | None
) -> None:
    observed = ObservedNode(name, silent, dead, renewals, frozenset({"show"}))
    plan = make_plan(observed, NOW, SETTINGS)
    looks = [MarkNode(name, dead=bool(marked)), Requeue(Key("Project", "show"), 0.0)]
    assert plan == ([] if marked is None else looks)
