"""What is drawn of a scene is told: that there is no layout, and layers that cannot be shown."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.support.plans import plan, ready_of, settled, status_of
from tests.support.worlds import encoder, held, on_air, pod, project, world

from onair_crds.contract.program import FailedLayer
from onair_crds.resources.base import Condition
from onair_crds.shapes import Document
from onair_operator.cluster.actions import PushProgram, ResourceEvent
from onair_operator.encoder.observed import EncoderView
from onair_operator.project.observed import ObservedProject
from onair_operator.scene.observed import ObservedScene

LEFT = FailedLayer(layout="stage", layer="left", reason="HTTP 404", on_air=True)
LATER = FailedLayer(layout="later", layer="logo", reason="no such name")
STAGE = ObservedScene(newest="stage", names=frozenset({"stage", "later"}))


def show(
    scene: ObservedScene = STAGE,
    composition: Document | None = None,
    run: Document | None = None,
    said: EncoderView | None = None,
    **status: Any,
) -> ObservedProject:
    status = {"broadcast": run or on_air(layout="stage"), **status}
    shown = project(composition=composition or {"scene": {}}, status=status, metadata=held())
    return world(shown, pods=[pod()], encoders=[said or encoder()], scene=scene)


def failing(*layers: FailedLayer) -> EncoderView:
    return encoder(failed_layers=list(layers))


def failed_of(observed: ObservedProject) -> Condition | None:
    conditions = status_of(observed).conditions
    return next((each for each in conditions if each.type == "LayerFailed"), None)


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (show(ObservedScene(), run=on_air()), "had no scene at the start"),
        (show(composition={"scene": {"selectedLayoutId": "gone"}}), "no layout gone"),
        (show(ObservedScene(names=frozenset({"later"}))), "no layout stage"),
    ],
)
def test_a_show_that_draws_nothing_says_so(observed: ObservedProject, message: str) -> None:
    ready = status_of(observed).conditions[0]
    assert (ready.status, ready.reason) == ("False", "NoLayout")
    assert message in ready.message
    assert status_of(observed).state == "NoLayout"


def test_a_selected_layout_that_cannot_be_drawn_is_told_with_its_rule() -> None:
    broken = dataclasses.replace(STAGE, broken="spec.layers[0].opacity: Input should be a valid number")
    assert ready_of(show(broken)) == ("False", "InvalidLayout")
    message = status_of(show(broken)).conditions[0].message
    assert "layout stage breaks a rule: spec.layers[0].opacity: Input should be a valid number" in message
    told = [each for each in plan(show(broken)) if isinstance(each, ResourceEvent)]
    assert "InvalidLayout" in [each.reason for each in told]


@pytest.mark.parametrize(
    "observed",
    [
        show(),
        show(composition={"scene": {"selectedLayoutId": "later"}}),
        show(ObservedScene(), composition={"external": {"url": "https://a.example"}}, run=on_air()),
        show(ObservedScene(), composition={"scene": {"rendererUrl": "https://a.example"}}, run=on_air()),
    ],
)
def test_a_show_with_something_to_draw_is_on_air(observed: ObservedProject) -> None:
    assert ready_of(observed) == ("True", "OnAir")


def test_layers_that_cannot_be_shown_are_named_and_counted() -> None:
    observed = show(said=failing(LEFT, LATER))
    failed = failed_of(observed)
    assert failed
    assert (failed.status, failed.reason) == ("True", "LayerFailed")
    assert failed.message == "left of stage: HTTP 404; logo of later, which is not on air: no such name"
    assert status_of(observed).state == "OnAir, 1 layer missing"
    assert ready_of(observed)[0] == "True", "the rest of the picture stays"
    [event] = [each for each in plan(observed) if isinstance(each, ResourceEvent)]
    assert (event.reason, event.warning) == ("LayerFailed", True)
    again = settled(observed)
    assert not [each for each in plan(again) if isinstance(each, ResourceEvent)]


def test_what_is_not_on_air_is_not_missing() -> None:
    assert status_of(show(said=failing(LATER))).state == "OnAir"


def test_more_layers_than_a_sentence_takes_are_counted() -> None:
    many = [LEFT.model_copy(update={"layer": f"layer-{number}"}) for number in range(9)]
    failed = failed_of(show(said=failing(*many)))
    assert failed
    assert failed.message.endswith("; and 4 more")


def test_layers_that_are_shown_again_end_the_condition() -> None:
    before = settled(show(said=failing(LEFT)))
    shown = dataclasses.replace(before, encoders={"uid-pod-1": encoder()})
    failed = failed_of(shown)
    assert failed
    assert (failed.status, failed.reason) == ("False", "Shown")


def test_a_leader_that_knows_nothing_yet_leaves_the_condition() -> None:
    before = settled(show(said=failing(LEFT)))
    silent = dataclasses.replace(before, encoders={"uid-pod-1": EncoderView("uid-pod-1", False, None)})
    failed = failed_of(silent)
    assert failed
    assert failed.status == "True"


def test_a_run_that_is_over_has_no_failed_layers() -> None:
    before = settled(show(said=failing(LEFT)))
    stopped = project(
        "Stopped",
        composition={"scene": {}},
        status={**before.project.status.model_dump(by_alias=True, mode="json", exclude_none=True)},
        metadata=held(),
    )
    assert failed_of(dataclasses.replace(before, project=stopped)) is None


def test_the_programme_has_the_scene_and_a_changed_selection_is_no_new_page() -> None:
    [first] = [each for each in plan(show()) if isinstance(each, PushProgram)]
    other = show(composition={"scene": {"selectedLayoutId": "later", "debug": True}})
    [second] = [each for each in plan(other) if isinstance(each, PushProgram)]
    assert first.program.scene
    assert second.program.scene
    assert first.program.scene.selected_layout_id == "stage"
    assert (second.program.scene.selected_layout_id, second.program.scene.debug) == ("later", True)
    assert first.program.composition_url == second.program.composition_url
    assert first.program.scene.target_latency_ms == 500
