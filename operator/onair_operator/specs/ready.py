"""The Ready condition: a reason that a program can match and a sentence that a user can act on. Pure."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from onair_crds.contract.times import format_time
from onair_crds.resources.base import MAX_TEXT, Condition

READY = "Ready"


@dataclass(frozen=True)
class Verdict:
    """The content of a Ready condition."""

    ready: bool
    reason: str
    message: str = ""


def with_ready(
    conditions: list[Condition], verdict: Verdict, generation: int, now: dt.datetime
) -> list[Condition]:
    """The conditions with Ready as judged; its transition time moves only when its status does."""
    status = "True" if verdict.ready else "False"
    before = next((c for c in conditions if c.type == READY), None)
    ready = Condition(
        type=READY,
        status=status,
        reason=verdict.reason,
        message=verdict.message[:MAX_TEXT],
        observed_generation=generation,
        last_transition_time=(
            before.last_transition_time if before and before.status == status else format_time(now)
        ),
    )
    return [ready, *(c for c in conditions if c.type != READY)]
