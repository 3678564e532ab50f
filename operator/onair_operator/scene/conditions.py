"""Judges what is drawn of a project's scenes, in sentences that a user can act on. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import EncoderStatus, FailedLayer
from onair_crds.resources.base import Condition
from onair_crds.resources.composition import Composition
from onair_operator.scene.observed import ObservedScene, is_scene, page_url, selected
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import Verdict, with_condition

LAYER_FAILED = "LayerFailed"
NO_LAYOUT = "NoLayout"
INVALID_LAYOUT = "InvalidLayout"
TOLD = 5
"""Layers that a sentence names."""


def no_layout(
    composition: Composition | None, default: str | None, scene: ObservedScene, settings: OperatorSettings
) -> Verdict | None:
    """Whether the built-in page draws nothing, or still what was before, for want of what is selected."""
    if not is_scene(composition) or page_url(composition, settings) != COMPOSITOR_URL:
        return None
    chosen = selected(composition, default)
    if chosen is None:
        return Verdict(
            False,
            NO_LAYOUT,
            "nothing is drawn: the project had no scene at the start; select one by"
            " composition.scene.selectedLayoutId",
        )
    if chosen not in scene.names:
        return Verdict(False, NO_LAYOUT, f"nothing new is drawn: the project has no layout {chosen}")
    if scene.broken is not None:
        return Verdict(
            False, INVALID_LAYOUT, f"nothing new is drawn: layout {chosen} breaks a rule: {scene.broken}"
        )
    return None


def with_failed_layers(
    conditions: list[Condition],
    status: EncoderStatus | None,
    generation: int,
    now: dt.datetime,
    *,
    running: bool,
) -> list[Condition]:
    """The conditions with what of the layers cannot be shown, once there was such a thing.

    Args:
        status: the encoder's; None while it is not known, when the condition stays.
    """
    told = any(each.type == LAYER_FAILED for each in conditions)
    if not running:
        return [each for each in conditions if each.type != LAYER_FAILED]
    if status is None or not (told or status.failed_layers):
        return conditions
    failed = status.failed_layers
    verdict = (
        Verdict(True, LAYER_FAILED, _sentence(failed))
        if failed
        else Verdict(False, "Shown", "all layers are shown")
    )
    judged, *others = with_condition(conditions, LAYER_FAILED, verdict, generation, now)
    return [*others, judged]


def newly_failed(before: list[Condition], after: list[Condition]) -> Condition | None:
    """The condition that layers cannot be shown, if it was not so before."""
    was = any(each.type == LAYER_FAILED and each.status == "True" for each in before)
    failed = (each for each in after if each.type == LAYER_FAILED and each.status == "True")
    return None if was else next(failed, None)


def missing(status: EncoderStatus | None) -> int:
    """Layers of what is on air that are not shown."""
    return sum(each.on_air for each in status.failed_layers) if status else 0


def _sentence(failed: list[FailedLayer]) -> str:
    named = [
        f"{each.layer} of {each.layout}{'' if each.on_air else ', which is not on air'}: {each.reason}"
        for each in failed[:TOLD]
    ]
    more = len(failed) - len(named)
    return "; ".join([*named, *([f"and {more} more"] if more else [])])
