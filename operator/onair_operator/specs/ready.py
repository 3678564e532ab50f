"""Conditions: a reason that a program can match and a sentence that a user can act on. Pure."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from onair_crds.contract.times import format_time
from onair_crds.resources.base import MAX_TEXT, Condition

READY = "Ready"
ON_AIR = "OnAir"


@dataclass(frozen=True)
class Verdict:
    """The content of a condition; `ready` is its status."""

    ready: bool
    reason: str
    message: str = ""


def with_ready(
    conditions: list[Condition], verdict: Verdict, generation: int, now: dt.datetime
) -> list[Condition]:
    """The conditions with Ready as judged, which is the first."""
    return with_condition(conditions, READY, verdict, generation, now)


def with_condition(
    conditions: list[Condition], type_: str, verdict: Verdict, generation: int, now: dt.datetime
) -> list[Condition]:
    """The conditions with one as judged, in front; its transition time moves only when its status does."""
    status = "True" if verdict.ready else "False"
    before = next((c for c in conditions if c.type == type_), None)
    judged = Condition(
        type=type_,
        status=status,
        reason=verdict.reason,
        message=verdict.message[:MAX_TEXT],
        observed_generation=generation,
        last_transition_time=(
            before.last_transition_time if before and before.status == status else format_time(now)
        ),
    )
    return [judged, *(c for c in conditions if c.type != type_)]
