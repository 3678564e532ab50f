"""Sources start and stop a broadcast by edges that last, each of which counts once, whoever leads."""

from __future__ import annotations

import pytest
from tests.support.triggered_show import TriggeredShow, trigger

from onair_operator.project.broadcast_state_machine import QUOTA_RETRY_S

BOTH = trigger("camera", start="Or", stop="Or")


@pytest.fixture
def show() -> TriggeredShow:
    """One that a camera starts and stops, looked at before the camera connects."""
    show = TriggeredShow(BOTH)
    show.look()
    return show


def test_a_source_that_stays_connected_starts_the_broadcast_after_a_second(show: TriggeredShow) -> None:
    show.connect("camera")
    show.look()
    assert not show.on_air
    assert show.requeue_s == 1.0
    show.after(1.0)
    assert show.on_air
    assert show.broadcast
    assert show.broadcast.started_by == "camera"


def test_a_source_that_stays_away_stops_it_after_five(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1.0)
    show.disconnect("camera")
    show.after(4.9)
    assert show.on_air
    show.after(0.1)
    assert not show.on_air
    assert show.broadcast
    assert show.broadcast.stopped_by == "camera"


def test_a_source_that_flaps_neither_starts_nor_ends_a_show(show: TriggeredShow) -> None:
    for _ in range(5):
        show.connect("camera")
        show.after(0.9)
        show.disconnect("camera")
        show.after(4.9)
    assert show.runs == []
    show.connect("camera")
    show.after(1.0)
    for _ in range(5):
        show.disconnect("camera")
        show.after(4.9)
        show.connect("camera")
        show.after(3.0)
    assert show.on_air
    assert len(show.runs) == 1


def test_a_source_that_is_connected_already_when_its_trigger_is_added_is_no_edge() -> None:
    show = TriggeredShow(trigger("camera"))
    show.connect("camera")
    show.after(0.2)
    show.change(BOTH)
    show.after(10)
    assert show.runs == []
    show.disconnect("camera")
    show.after(6)
    show.connect("camera")
    show.after(2)
    assert show.on_air


def test_a_source_of_which_nothing_is_known_when_its_trigger_is_added_is_no_edge_once_it_is() -> None:
    show = TriggeredShow(trigger("camera"))
    show.connect("camera")
    show.after(5)
    show.lose("camera")
    show.change(BOTH)
    show.after(5)
    show.connect("camera")
    show.after(10)
    assert show.runs == []
    show.disconnect("camera")
    show.after(6)
    show.connect("camera")
    show.after(2)
    assert show.on_air


def test_a_manual_stop_holds_until_the_next_start_edge(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1.0)
    show.want("Stopped", stopped=show.runs[0])
    show.after(30)
    assert not show.on_air
    show.disconnect("camera")
    show.after(2)
    show.connect("camera")
    show.after(60)
    assert len(show.runs) == 1, "a reconnect is no edge"
    show.disconnect("camera")
    show.after(6)
    show.connect("camera")
    show.after(2)
    assert show.on_air
    assert len(show.runs) == 2


@pytest.mark.parametrize("wanted", [{}, {"id": "mine"}], ids=["without an id", "by an id"])
def test_a_manual_start_is_ended_by_a_stop_edge_and_stays_ended(
    show: TriggeredShow, wanted: dict[str, str]
) -> None:
    show.connect("camera")
    show.after(1.0)
    show.want("Stopped", stopped=show.runs[0])
    show.after(1)
    show.want("Running", **wanted)
    show.after(1)
    assert show.on_air
    show.disconnect("camera")
    show.after(6)
    show.after(60)
    assert not show.on_air
    ready = show.project.status.conditions[0]
    assert (ready.status, ready.reason) == ("True", "Stopped")
    assert "source camera disconnected" in ready.message
    show.connect("camera")
    show.after(2)
    assert show.on_air, "though the spec still names a run that has been"
    assert len(show.runs) == 3
    show.after(60)
    assert show.on_air


def test_stopped_in_the_spec_does_not_end_what_a_source_began_unless_it_was_running_since(
    show: TriggeredShow,
) -> None:
    show.connect("camera")
    show.after(1.0)
    show.after(30)
    assert show.on_air
    show.want("Running")
    show.after(1)
    assert len(show.runs) == 1, "it runs already"
    show.want("Stopped")
    show.after(1)
    assert not show.on_air


def test_another_run_that_somebody_wants_takes_its_place(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1.0)
    show.want("Running", id="mine")
    show.after(1)
    show.after(1)
    assert show.on_air
    assert show.runs[-1] == "mine"


def test_any_one_of_several_sources_starts_and_any_one_stops() -> None:
    show = TriggeredShow(BOTH, trigger("phone", start="Or", stop="Or"))
    show.look()
    show.connect("phone")
    show.after(1)
    assert show.on_air
    show.connect("camera")
    show.after(1)
    assert len(show.runs) == 1
    show.disconnect("phone")
    show.after(5)
    assert not show.on_air


def test_an_edge_while_the_run_before_is_being_ended_begins_another_one(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1)
    show.change(BOTH, trigger("phone", start="Or"))
    show.look()
    show.disconnect("camera")
    show.after(4.5)
    show.connect("phone")
    show.after(1)  # both edges in one look: the stop's time came first
    show.after(1)
    assert show.on_air
    assert len(show.runs) == 2
    assert show.broadcast
    assert show.broadcast.started_by == "phone"


def test_a_source_of_which_nothing_is_known_ends_no_show_until_it_is_known_to_be_gone(
    show: TriggeredShow,
) -> None:
    show.connect("camera")
    show.after(1)
    show.lose("camera")
    show.after(600)
    assert show.on_air
    show.disconnect("camera")
    show.after(4.9)
    assert show.on_air
    show.after(0.1)
    assert not show.on_air


def test_a_source_that_is_deleted_has_disconnected(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1)
    del show.sources["camera"]
    show.after(0)
    assert not show.on_air


def test_a_show_that_is_being_deleted_is_not_started(show: TriggeredShow) -> None:
    document = show.project.model_dump(mode="json", by_alias=True)
    document["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    show.project = type(show.project).model_validate(document)
    show.connect("camera")
    show.after(2)
    assert show.runs == []


def test_a_look_at_a_show_that_does_not_change_writes_nothing(show: TriggeredShow) -> None:
    show.connect("camera")
    show.after(1)
    writes = show.writes
    for _ in range(20):
        show.after(1)
    assert show.writes == writes


QUOTA = "the quota api.quotas.perUser.broadcasts is 1, of which 1 are in use"


def test_a_start_waits_for_room_within_a_quota_which_is_told_once(show: TriggeredShow) -> None:
    show.used_up = QUOTA
    show.connect("camera")
    for _ in range(3):
        show.after(QUOTA_RETRY_S)
        assert not show.on_air
        assert show.requeue_s == QUOTA_RETRY_S
    ready = next(each for each in show.project.status.conditions if each.type == "Ready")
    assert (ready.reason, show.project.status.state) == ("QuotaExceeded", "QuotaExceeded")
    assert ready.message.endswith(QUOTA)
    assert "camera" in ready.message
    assert show.events == ["QuotaExceeded"]
    show.used_up = None
    show.after(QUOTA_RETRY_S)
    assert show.on_air
    assert show.broadcast
    assert show.broadcast.started_by == "camera"


def test_a_start_that_waits_ends_with_its_source_whatever_the_trigger() -> None:
    show = TriggeredShow(trigger("camera", start="Or"))
    show.look()
    show.used_up = QUOTA
    show.connect("camera")
    show.after(1.0)
    show.disconnect("camera")
    show.after(4.9)
    assert show.project.status.trigger_start == "camera", "it may be back"
    show.after(0.1)
    assert show.project.status.trigger_start is None
    assert show.project.status.state == "NotRunning"
    show.used_up = None
    show.after(QUOTA_RETRY_S)
    assert show.runs == []


def test_a_user_who_starts_what_waits_is_not_held_up_by_it(show: TriggeredShow) -> None:
    """The facade has looked at the quota, and kubectl is above it."""
    show.used_up = QUOTA
    show.connect("camera")
    show.after(1.0)
    show.want("Running")
    show.look()
    assert show.on_air
    assert show.broadcast
    assert show.broadcast.started_by is None
    assert show.project.status.trigger_start is None
