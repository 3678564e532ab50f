"""The newest scene at the start is kept for the run."""

from __future__ import annotations

import pytest
from tests.support.worlds import run

from onair_crds.resources.project import BroadcastStatus
from onair_operator.scene.default_layout import with_default_layout
from onair_operator.scene.observed import ObservedScene


@pytest.mark.parametrize(
    ("phase", "known", "newest", "layout"),
    [
        ("Waiting", None, "new", "new"),
        ("Waiting", "old", "new", "new"),
        ("Waiting", "old", None, "old"),
        ("Starting", None, "new", "new"),
        ("Starting", "old", "new", "old"),
        ("Running", None, "new", None),
        ("Running", "old", "new", "old"),
        ("Stopping", None, "new", None),
    ],
)
def test_a_run_keeps_the_scene_that_it_began_with(
    phase: str, known: str | None, newest: str | None, layout: str | None
) -> None:
    before = BroadcastStatus.model_validate(run(phase, layout=known))
    after = with_default_layout(before, ObservedScene(newest=newest))
    assert after
    assert after.layout == layout


def test_without_a_run_there_is_nothing_to_draw() -> None:
    assert with_default_layout(None, ObservedScene(newest="new")) is None
