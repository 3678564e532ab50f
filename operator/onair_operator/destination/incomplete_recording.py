"""The condition of a recording that lacks a part of its broadcast. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.times import format_time
from onair_crds.resources.base import Condition

RECORDING_INCOMPLETE = "RecordingIncomplete"


def with_recording(
    conditions: list[Condition],
    missing_s: float | None,
    generation: int,
    now: dt.datetime,
    *,
    several_encoders: bool,
) -> list[Condition]:
    """The conditions with RecordingIncomplete as long as it is so; it stays until the next broadcast.

    Args:
        missing_s: seconds that are missing; None if it is not known, so that it stays as it is.
        several_encoders: whether some of it may be the time between two encoders, whose clocks may differ.
    """
    if missing_s is None:
        return conditions
    others = [each for each in conditions if each.type != RECORDING_INCOMPLETE]
    if not missing_s:
        return others
    by_clocks = ", measured between encoders by their clocks" if several_encoders else ""
    before = next((each for each in conditions if each.type == RECORDING_INCOMPLETE), None)
    incomplete = Condition(
        type=RECORDING_INCOMPLETE,
        status="True",
        reason="PartsMissing",
        message=f"the recording lacks {missing_s:.1f} s of the broadcast{by_clocks}",
        observed_generation=generation,
        last_transition_time=before.last_transition_time if before else format_time(now),
    )
    return [*others, incomplete]


def missing_ms(before: int | None, missing_s: float | None) -> int | None:
    """The figure of the condition; None if nothing is missing.

    Args:
        before: the figure so far, which stays where none is known.
        missing_s: as in `with_recording`.
    """
    return before if missing_s is None else round(missing_s * 1000) or None
