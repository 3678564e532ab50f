"""Metrics of destinations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY
from tests.support.worlds import destination

from onair_crds.kube.store import Store
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import DESTINATION, KINDS
from onair_operator.destination.metrics import RECORDINGS


@pytest.fixture
def store() -> Iterator[Store]:
    before, RECORDINGS.store = RECORDINGS.store, Store(KINDS)
    yield RECORDINGS.store
    RECORDINGS.store = before


def add(store: Store, name: str, status: Document | None, version: int = 1) -> None:
    made = destination(name)
    metadata = {**made.metadata, "resourceVersion": str(version)}
    store.update(DESTINATION, {"metadata": metadata, "spec": made.spec.manifest(), "status": status or {}})


def value(name: str) -> float | None:
    return REGISTRY.get_sample_value("onair_operator_recording_missing_seconds", {"destination": name})


def test_what_a_recording_lacks_is_the_figure_of_its_status(store: Store) -> None:
    add(store, "whole", {"connect": "Connected"})
    add(store, "holes", {"recordingMissingMs": 12_040})
    add(store, "long", {"recordingMissingMs": 172_800_000})
    assert [value(name) for name in ("whole", "holes", "long")] == [None, 12.04, 172_800.0]


def test_a_sentence_is_no_figure_and_nor_is_what_is_no_number(store: Store) -> None:
    message = "the recording lacks 12.0 s of the broadcast"
    condition = {"type": "RecordingIncomplete", "status": "True", "reason": "Parts", "message": message}
    no_figures: list[Document | None] = [
        {"conditions": [condition]},
        {"recordingMissingMs": "12000"},
        {"recordingMissingMs": None},
        None,
    ]
    for version, status in enumerate(no_figures, 6):
        add(store, "other", status, version)
        assert value("other") is None
