"""The condition of a recording that lacks a part."""

from __future__ import annotations

from typing import Any

from tests.support.plans import broadcast_of, destination_statuses, settled
from tests.support.worlds import NOW, delivering, destination, encoder, on_air, pod, project, run, world

from onair_crds.contract.times import format_time
from onair_crds.resources.base import Condition
from onair_crds.resources.destination import DestinationStatus
from onair_crds.shapes import Document
from onair_operator.destination.status import status_without_project
from onair_operator.encoder.observed import reported


def status_after(missing_s: float | None, before: Document | None = None, **more: Any) -> DestinationStatus:
    """After a look at an encoder that reports so many seconds; None reports nothing."""
    state = delivering().model_copy(update={"missing_s": missing_s or 0.0})
    show = project(status={"broadcast": on_air(**more)})
    reported = [] if missing_s is None else [state]
    status = {"connect": "Disconnected", **(before or {})}
    observed = world(
        show,
        pods=[pod()],
        destinations=[destination(status=status)],
        encoders=[encoder(destinations=reported)],
    )
    (after,) = destination_statuses(observed).values()
    return after


def incomplete(missing_s: float | None, before: list[Document] | None = None, **more: Any) -> list[Condition]:
    """That condition after such a look."""
    after = status_after(missing_s, {"conditions": before or []}, **more)
    return [each for each in after.conditions if each.type == "RecordingIncomplete"]


def stored(found: list[Condition]) -> list[Document]:
    return [each.model_dump(mode="json", by_alias=True) for each in found]


def test_what_is_missing_is_said_and_what_is_whole_is_not() -> None:
    assert incomplete(0.0) == []
    (condition,) = incomplete(12.04)
    assert (condition.status, condition.reason) == ("True", "PartsMissing")
    assert condition.message == "the recording lacks 12.0 s of the broadcast"


def test_between_two_encoders_it_says_by_whose_clocks_that_is() -> None:
    (condition,) = incomplete(12.04, epoch=2)
    assert condition.message == (
        "the recording lacks 12.0 s of the broadcast, measured between encoders by their clocks"
    )


def test_it_stays_after_the_broadcast_and_goes_with_the_next() -> None:
    before = stored(incomplete(12.0))
    assert stored(incomplete(None, before)) == before, "the encoder has not reported yet, or is gone"
    assert incomplete(0.0, before) == []


def test_its_figure_is_a_number_of_the_status_for_as_long_as_the_condition_is_there() -> None:
    assert status_after(0.0).recording_missing_ms is None
    before = status_after(12.04)
    assert before.recording_missing_ms == 12_040
    assert status_after(None, {"recordingMissingMs": 12_040}).recording_missing_ms == 12_040
    assert status_after(0.0, before.manifest()).recording_missing_ms is None
    recorded = destination(status=before.manifest())
    assert status_without_project(recorded, NOW).recording_missing_ms == 12_040


def test_its_transition_time_is_that_of_the_first_loss() -> None:
    before = stored(incomplete(12.0))
    before[0]["lastTransitionTime"] = "2026-01-01T00:00:00.000Z"
    (condition,) = incomplete(15.0, before)
    assert condition.last_transition_time == "2026-01-01T00:00:00.000Z"
    assert "15.0 s" in condition.message


def test_the_last_word_of_an_encoder_that_has_finished_counts() -> None:
    ending = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW))
    state = delivering().model_copy(update={"missing_s": 12.0})
    observed = world(
        project("Stopped", status={"broadcast": ending}),
        pods=[pod()],
        destinations=[destination()],
        encoders=[encoder("finished", destinations=[state])],
    )
    assert broadcast_of(observed).phase == "Stopped"
    assert "RecordingIncomplete" in [c.type for c in destination_statuses(observed)["main"].conditions]
    kept = settled(observed).destinations[0].status.conditions
    assert "RecordingIncomplete" in [c.type for c in kept]
    assert not destination_statuses(settled(observed)), "the next look leaves it as it is"


def test_what_is_missing_is_news() -> None:
    views = [
        encoder(destinations=[delivering().model_copy(update={"missing_s": missing_s})])
        for missing_s in (0.0, 12.0)
    ]
    first, second = [reported(view.status) for view in views if view.status]
    assert first != second
