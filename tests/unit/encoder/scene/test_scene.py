"""The newer version of a layout wins; the page is told what differs, in order."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.scenes import ROOT, layer, layout, scene

from onair_crds.contract.scene import (
    Canvas,
    ChangeAnimation,
    LayerAnimation,
    LayersChange,
    ProgramScene,
    SceneLayer,
    SceneState,
)
from onair_encoder.scene.scene import MAX_EARLY, LayersEvent, Scene

CANVAS = Canvas(width=1280, height=720)
ANIMATION = ChangeAnimation(layers=[LayerAnimation(id="left", request_animation=[{"durationMs": 300}])])


def moved(version: int, x: int = 100, **fields: Any) -> LayersEvent:
    return LayersEvent("stage", version, upsert=(layer("left", x=x),), **fields)


def change(told: object) -> LayersChange:
    assert isinstance(told, list)
    (only,) = told
    assert isinstance(only, LayersChange)
    return only


def left(shown: Scene) -> SceneLayer:
    stage = next(each for each in shown.state().layouts if each.id == "stage")
    return next(each for each in stage.layers if each.id == "left")


@pytest.fixture
def shown() -> Scene:
    shown = Scene(now=lambda: 1.0)
    told = shown.take(scene(layout(10)), CANVAS)
    assert isinstance(told, SceneState)
    assert told.selected_layout_id == "stage"
    return shown


def test_the_same_programme_again_says_nothing(shown: Scene) -> None:
    assert shown.take(scene(layout(10)), CANVAS) == []
    assert shown.take(scene(layout(11)), CANVAS) == [], "of another version, and the same"


def test_a_programme_tells_of_a_layout_what_differs(shown: Scene) -> None:
    before = shown.state().layouts[0].version
    told = change(shown.take(scene(layout(12, ROOT, layer("left", x=5), layer("right"))), CANVAS))
    assert [each.id for each in told.upsert] == ["left", "right"]
    assert told.remove == []
    assert told.version > before
    assert change(shown.take(scene(layout(13, ROOT, layer("left", x=5))), CANVAS)).remove == ["right"]


@pytest.mark.parametrize(
    "wanted",
    [
        scene(layout(10), selected_layout_id="other"),
        scene(layout(10), debug=True),
        scene(layout(10), target_latency_ms=900),
        scene(layout(10), layout(11, id="other")),
        scene(layout(10, transitions=[{"cut": {}, "fromLayoutIds": []}])),
        scene(),
        None,
    ],
)
def test_whatever_else_than_layers_changes_is_told_whole(shown: Scene, wanted: ProgramScene | None) -> None:
    assert isinstance(shown.take(wanted, CANVAS), SceneState)
    assert shown.take(wanted, CANVAS) == []


def test_another_canvas_is_told_whole(shown: Scene) -> None:
    told = shown.take(scene(layout(10)), Canvas(width=640, height=360))
    assert isinstance(told, SceneState)
    assert told.canvas.width == 640


def test_an_event_moves_a_layer_with_its_animation(shown: Scene) -> None:
    told = shown.apply(moved(11, animation=ANIMATION))
    assert told
    assert told.animation == ANIMATION
    assert left(shown).x == 100


@pytest.mark.parametrize("version", [9, 10])
def test_an_event_of_what_the_programme_brought_says_nothing(shown: Scene, version: int) -> None:
    assert shown.apply(moved(version)) is None
    assert left(shown).x is None


def test_events_out_of_order_leave_the_newest(shown: Scene) -> None:
    assert shown.apply(moved(14, x=4))
    assert shown.apply(moved(13, x=3)) is None
    assert left(shown).x == 4


def test_all_events_of_one_commit_count(shown: Scene) -> None:
    assert shown.apply(LayersEvent("stage", 11, upsert=(layer("new"),)))
    root = ROOT.model_copy(update={"children": ["left", "new"]})
    assert shown.apply(LayersEvent("stage", 11, upsert=(root,)))
    stage = shown.state().layouts[0]
    assert [each.id for each in stage.layers] == ["root", "left", "new"]
    assert stage.layers[0].children == ["left", "new"]


def test_an_older_programme_takes_nothing_back_but_selects(shown: Scene) -> None:
    shown.apply(moved(12))
    told = shown.take(scene(layout(11), layout(9, id="other"), selected_layout_id="other"), CANVAS)
    assert isinstance(told, SceneState)
    assert told.selected_layout_id == "other"
    assert left(shown).x == 100


def test_a_programme_of_the_same_version_corrects_what_events_told_in_part(shown: Scene) -> None:
    shown.apply(LayersEvent("stage", 12, upsert=(layer("new"),)))
    whole = layout(12, ROOT, layer("left", x=7), layer("new"))
    told = change(shown.take(scene(whole), CANVAS))
    assert [each.id for each in told.upsert] == ["left"]
    assert shown.apply(moved(12)) is None


def test_events_that_come_before_the_first_programme_with_their_layout_count(shown: Scene) -> None:
    """The layers of 21 and 22 are told while a programme of version 20 is on its way."""
    root = SceneLayer(id="root", type="root")
    for version, name in ((20, "old"), (21, "one"), (22, "two")):
        event = LayersEvent("later", version, (layer(name),), parents={name: "root"}, animation=ANIMATION)
        assert shown.apply(event) is None
    assert isinstance(shown.take(scene(layout(10), layout(20, root, id="later")), CANVAS), SceneState)
    told = shown.take_early()
    assert [each.id for change in told for each in change.upsert] == ["root", "one", "root", "two"]
    assert [change.animation for change in told] == [ANIMATION, ANIMATION]
    assert not shown.is_older_than(layout(22, id="later"))
    assert shown.take_early() == []


def test_events_of_layouts_that_no_programme_has_are_not_kept_for_ever(shown: Scene) -> None:
    first = LayersEvent("later", 20, upsert=(layer("one"),))
    shown.apply(first)
    for number in range(MAX_EARLY):
        shown.apply(LayersEvent(f"other-{number}", 21, upsert=(layer("one"),)))
    shown.take(scene(layout(10), layout(19, ROOT, id="later")), CANVAS)
    assert shown.take_early() == []
    assert shown.is_older_than(layout(20, id="later"))


def test_removed_layers_go_and_unknown_ones_harm_nothing(shown: Scene) -> None:
    assert shown.apply(LayersEvent("stage", 11, remove=("left", "unknown")))
    assert [each.id for each in shown.state().layouts[0].layers] == ["root"]


def test_newer_layers_of_a_programme_may_wait_for_their_events(shown: Scene) -> None:
    newer = scene(layout(11, ROOT, layer("left", x=100)))
    assert shown.is_older_than(layout(11))
    assert not shown.is_older_than(layout(11, id="other"))
    assert shown.take(newer, CANVAS, {"stage"}) == []
    told = shown.apply(moved(11, animation=ANIMATION))
    assert told
    assert told.animation
    assert shown.take(newer, CANVAS) == []


def test_what_no_event_told_in_time_is_taken_once(shown: Scene) -> None:
    newer = layout(11, ROOT, layer("left", x=100))
    assert shown.take(scene(newer), CANVAS, {"stage"}) == []
    late = shown.take_late(newer)
    assert late
    assert [each.id for each in late.upsert] == ["left"]
    assert shown.take_late(newer) is None
    assert shown.take_late(layout(12, id="other")) is None


def test_versions_grow_over_a_restart_and_what_was_told_is_kept() -> None:
    first = Scene(now=lambda: 1.0)
    first.take(scene(layout(10), layout(10, id="other")), CANVAS)
    first.apply(moved(12))
    second = Scene(now=lambda: 2.0)
    kept = first.kept()
    assert [each.id for each in kept] == ["stage"], "the programme has the other"
    second.restore(kept)
    second.take(scene(layout(10), layout(10, id="other")), CANVAS)
    assert left(second).x == 100
    versions = [{each.id: each.version for each in shown.state().layouts} for shown in (first, second)]
    assert all(versions[1][name] > versions[0][name] for name in ("stage", "other"))


def test_a_clock_that_goes_back_makes_no_version_smaller() -> None:
    times = iter([5.0, 1.0, 1.0])
    shown = Scene(now=lambda: next(times))
    shown.take(scene(layout(10)), CANVAS)
    before = shown.state().layouts[0].version
    told = shown.apply(moved(11))
    assert told
    assert told.version > before
