"""A programme carries the layouts that can be on air, as far as there is room."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.support.documents import document
from tests.support.worlds import on_air, project

from onair_crds.contract.scene import MAX_LAYOUTS, MAX_LAYOUTS_BYTES
from onair_crds.kube.store import Store
from onair_crds.resources.layout import MAX_LAYERS
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import KINDS, TRIMS
from onair_operator.scene.observe import observe


@pytest.fixture
def store() -> Store:
    return Store(KINDS, TRIMS)


def add(store: Store, name: str, created: int = 0, **spec: Any) -> None:
    at = f"2026-05-01T10:{created // 60:02}:{created % 60:02}Z"
    spec = {"projectId": "show", "type": "Scene", "layers": [{"id": "root", "type": "root"}], **spec}
    store.update("Layout", document(name, spec, creationTimestamp=at))


def show(selected: str | None = None, status: Document | None = None, **composition: Any) -> Project:
    scene = {"scene": {"selectedLayoutId": selected} if selected else {}}
    broadcast = on_air() if status is None else status
    return project(composition=composition or scene, status={"broadcast": broadcast})


def carried(store: Store, wanted: Project) -> list[str]:
    return [layout.id for layout in observe(store, wanted).layouts]


def test_the_selected_layout_comes_first_then_scenes_newest_first(store: Store) -> None:
    add(store, "old", 1)
    add(store, "plain", 9, type=None)
    add(store, "new", 5)
    add(store, "other", 7, projectId="another")
    assert carried(store, show("plain")) == ["plain", "new", "old"]
    assert carried(store, show("missing")) == ["new", "old", "plain"]
    assert carried(store, show(status=on_air(layout="old"))) == ["old", "new", "plain"]
    seen = observe(store, show())
    assert (seen.newest, seen.names) == ("new", frozenset({"old", "plain", "new"}))


def test_layouts_that_are_being_deleted_are_not_carried(store: Store) -> None:
    add(store, "old")
    store.update("Layout", document("gone", {"projectId": "show", "type": "Scene"}, deletionTimestamp="now"))
    assert carried(store, show()) == ["old"]


@pytest.mark.parametrize("status", [{"id": "run", "phase": "Stopped"}, {"id": "run", "phase": "Stopping"}])
def test_without_a_run_nothing_is_carried(store: Store, status: Document) -> None:
    add(store, "old")
    assert observe(store, show(status=status)).layouts == ()


def test_a_page_of_another_kind_is_given_no_layouts(store: Store) -> None:
    add(store, "old")
    page: Document = {"external": {"url": "https://graphics.example"}}
    assert observe(store, show(**page)).layouts == ()
    own: Document = {"scene": {"rendererUrl": "https://graphics.example"}}
    assert carried(store, show(**own)) == ["old"]


def test_an_invalid_layout_is_left_out(store: Store) -> None:
    add(store, "broken", 9, layers=[{"id": "a", "type": "square", "opacity": "much"}])
    add(store, "old")
    assert carried(store, show("broken")) == ["old"]
    assert observe(store, show("old")).broken is None
    assert observe(store, show("gone")).broken is None
    broken = observe(store, show("broken")).broken
    assert broken
    assert "opacity: Input should be a valid number" in broken
    add(store, "broken", 9)
    assert observe(store, show("broken")).broken is None


def test_more_than_there_is_room_for_is_left_out_but_never_the_selected_one(store: Store) -> None:
    for number in range(MAX_LAYOUTS + 5):
        add(store, f"small-{number}", number)
    big = [{"id": f"layer-{number}", "type": "text", "data": {"text": "x" * 4000}} for number in range(300)]
    add(store, "big-1", 1000, layers=big)
    add(store, "big-2", 1001, layers=big)
    add(store, "chosen", 0, layers=big)
    found = carried(store, show("chosen"))
    assert found[:2] == ["chosen", "big-2"]
    assert "big-1" not in found
    assert len(found) == MAX_LAYOUTS
    layouts = observe(store, show("chosen")).layouts
    assert sum(len(each.wire()) for each in layouts[1:]) <= MAX_LAYOUTS_BYTES


def test_five_hundred_layouts_of_five_hundred_layers_are_looked_at_in_no_time(store: Store) -> None:
    layers = [{"id": f"layer-{number}", "type": "square", "x": number} for number in range(MAX_LAYERS)]
    for number in range(500):
        add(store, f"layout-{number}", number, layers=layers)
    began = time.process_time()
    found = carried(store, show("layout-7"))
    assert found[0] == "layout-7"
    assert time.process_time() - began < 2, "only what is carried is decoded"
    began = time.process_time()
    carried(store, show("layout-7"))
    assert time.process_time() - began < 0.5, "and that once"
