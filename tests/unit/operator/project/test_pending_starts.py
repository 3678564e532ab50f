"""A source's start that waits, for the end of a run or for room within a quota, and how it is called off."""

from __future__ import annotations

import pytest
from tests.support.triggered_show import TriggeredShow, trigger

from onair_operator.project.broadcast_state_machine import QUOTA_RETRY_S

STARTS = trigger("camera", start="Or")
PHASES = ["Stopping", "held by a quota"]


def pending(phase: str) -> TriggeredShow:
    """A show that the camera starts once the present run has ended, or there is room."""
    show = TriggeredShow(STARTS)
    show.look()
    if phase == "Stopping":
        show.ends_slowly = True
        show.want("Running", id="first")
        show.after(1)
        show.want("Stopped", stopped="first")
        show.after(1)
    else:
        show.used_up = "the quota is used up"
    show.connect("camera")
    show.after(1)
    assert not show.on_air
    assert show.project.status.trigger_start == "camera"
    return show


def let_it_begin(show: TriggeredShow) -> list[str]:
    """Takes away what it waits for; gives the sources that have started a run."""
    show.ends_slowly, show.used_up = False, None
    for _ in range(3):
        show.after(QUOTA_RETRY_S)
    return [show.broadcast.started_by] if show.broadcast and show.broadcast.started_by else []


@pytest.mark.parametrize("phase", PHASES)
def test_a_start_that_waits_begins_a_run(phase: str) -> None:
    assert let_it_begin(pending(phase)) == ["camera"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "triggers",
    [[], [trigger("camera", stop="Or")], [{"sourceId": "camera"}], [trigger("phone", start="Or")]],
    ids=["no source", "another action", "no trigger", "another source"],
)
def test_one_whose_trigger_is_removed_is_called_off(phase: str, triggers: list[dict[str, object]]) -> None:
    show = pending(phase)
    show.change(*triggers)
    show.look()
    assert show.project.status.trigger_start is None
    assert let_it_begin(show) == []
