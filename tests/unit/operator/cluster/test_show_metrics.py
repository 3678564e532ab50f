"""Metrics of shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY
from tests.support.sources import source
from tests.support.worlds import on_air, project, run

from onair_crds.contract.pod import SandboxMode
from onair_crds.kube.store import Store
from onair_crds.resources.project import BroadcastStatus
from onair_crds.shapes import Document
from onair_operator.cluster.show_metrics import SHOWS, record_sandbox, record_time_to_air, record_triggers
from onair_operator.cluster.watched_kinds import KINDS, PROJECT, SOURCE


@pytest.fixture
def store() -> Iterator[Store]:
    before, SHOWS.store = SHOWS.store, Store(KINDS)
    yield SHOWS.store
    SHOWS.store = before


def add(store: Store, name: str, status: Document | None = None) -> None:
    show = project(metadata={"name": name, "uid": f"uid-{name}"})
    store.update(PROJECT, {"metadata": show.metadata, "spec": show.spec.manifest(), "status": status or {}})


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def test_shows_are_counted_by_phase_and_slate(store: Store) -> None:
    slate = {"type": "OnAir", "status": "False", "reason": "Slate"}
    failed = {"type": "LayerFailed", "status": "True", "reason": "LayerFailed"}
    add(store, "new")
    add(store, "one", {"broadcast": on_air()})
    add(store, "two", {"broadcast": on_air(), "conditions": [slate, failed]})
    add(store, "three", {"broadcast": run("Waiting")})
    assert value("onair_operator_shows", phase="Running") == 2
    assert value("onair_operator_shows", phase="Waiting") == 1
    assert value("onair_operator_shows", phase="NotRunning") == 1
    assert value("onair_operator_shows", phase="Stopped") == 0
    assert value("onair_operator_shows_on_slate") == 1
    assert value("onair_operator_shows_with_failed_layers") == 1


def test_sources_are_counted_by_their_state(store: Store) -> None:
    for name, connect in (("a", "Connected"), ("b", "Disconnected"), ("c", "Connected")):
        camera = source(status={"connect": connect}, name=name)
        document = {"spec": camera.spec.manifest(), "status": camera.status.manifest()}
        store.update(SOURCE, {"metadata": camera.metadata, **document})
    assert value("onair_operator_sources", connect="Connected") == 2
    assert value("onair_operator_sources", connect="Disconnected") == 1


@pytest.mark.parametrize("mode", SandboxMode)
def test_the_mode_that_pages_are_kept_in_is_the_only_one_that_is_1(mode: SandboxMode) -> None:
    record_sandbox(SandboxMode.SECCOMP)
    record_sandbox(mode)
    shown = {each: value("onair_operator_encoder_sandbox", mode=each.value) for each in SandboxMode}
    assert shown == {each: float(each is mode) for each in SandboxMode}


def test_what_a_source_starts_and_stops_is_counted_once() -> None:
    def counted(before: Document | None, after: Document) -> tuple[float, float]:
        name = "onair_operator_triggered_total"
        start, stop = (value(name, action=each) or 0 for each in ("start", "stop"))
        former = BroadcastStatus.model_validate(before) if before else None
        record_triggers(former, BroadcastStatus.model_validate(after))
        return (value(name, action="start") or 0) - start, (value(name, action="stop") or 0) - stop

    begun = run("Waiting", startedBy="camera")
    ended = run("Stopping", startedBy="camera", stoppedBy="phone")
    assert counted(None, begun) == (1, 0)
    assert counted(run("Stopped", id="earlier"), begun) == (1, 0)
    assert counted(begun, run("Running", startedBy="camera")) == (0, 0)
    assert counted(begun, ended) == (0, 1)
    assert counted(ended, run("Stopped", startedBy="camera", stoppedBy="phone")) == (0, 0)
    assert counted(None, run("Waiting")) == (0, 0)


def test_the_time_to_air_is_counted_once_a_run() -> None:
    def counted(before: Document | None, after: Document) -> tuple[float, float]:
        name = "onair_operator_time_to_air_seconds"
        count, total = value(f"{name}_count") or 0, value(f"{name}_sum") or 0
        former = BroadcastStatus.model_validate(before) if before else None
        record_time_to_air(former, BroadcastStatus.model_validate(after))
        return (value(f"{name}_count") or 0) - count, (value(f"{name}_sum") or 0) - total

    requested: Document = {"requested": "2026-05-01T12:00:00Z"}
    waiting = run("Starting", **requested)
    running = run("Running", **requested, start="2026-05-01T12:00:04Z")
    replaced = run("Starting", epoch=2, **requested, start="2026-05-01T12:00:04Z")
    assert counted(None, waiting) == (0, 0)
    assert counted(waiting, running) == (1, 4)
    assert counted(running, replaced) == (0, 0)
    assert counted(replaced, running) == (0, 0), "another encoder"
    assert counted(run("Stopped", "former", start="2026-04-01T12:00:00Z"), running) == (1, 4)
