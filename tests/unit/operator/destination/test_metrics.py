"""Metrics of destinations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY
from tests.support.worlds import NOW, destination

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import DESTINATION, KINDS
from onair_operator.destination.metrics import RECORDINGS
from onair_operator.destination.recording import with_recording


@pytest.fixture
def store() -> Iterator[Store]:
    before, RECORDINGS.store = RECORDINGS.store, Store(KINDS)
    yield RECORDINGS.store
    RECORDINGS.store = before


def add(store: Store, name: str, missing_s: float, now: dt.datetime = NOW) -> None:
    conditions = [each.manifest() for each in with_recording([], missing_s, 1, now)]
    made = destination(name)
    status = {"conditions": conditions} if conditions else {}
    store.update(DESTINATION, {"metadata": made.metadata, "spec": made.spec.manifest(), "status": status})


def value(name: str) -> float | None:
    return REGISTRY.get_sample_value("onair_operator_recording_missing_seconds", {"destination": name})


def test_what_a_recording_lacks_is_the_figure_of_its_condition(store: Store) -> None:
    add(store, "whole", 0.0)
    add(store, "holes", 12.04)
    add(store, "long", 172_800.0)
    assert [value(name) for name in ("whole", "holes", "long")] == [None, 12.0, 172_800.0]


def test_a_condition_of_other_words_is_no_figure(store: Store) -> None:
    odd = {"type": "RecordingIncomplete", "status": "True", "reason": "PartsMissing", "message": "all of it"}
    for version, conditions in enumerate(([odd], [{"type": "Ready"}], None), 6):
        made = destination("other")
        metadata = {**made.metadata, "resourceVersion": str(version)}
        status = {"conditions": conditions}
        store.update(DESTINATION, {"metadata": metadata, "spec": made.spec.manifest(), "status": status})
        assert value("other") is None
