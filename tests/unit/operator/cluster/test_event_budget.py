"""An Event may be written a few times at once, then now and again."""

from __future__ import annotations

from onair_operator.cluster.event_budget import (
    BURST,
    INTERVAL_S,
    NEW_BURST,
    NEW_PER_S,
    CreationBudget,
    EventBudget,
)


def test_the_first_writes_wait_for_nothing_and_further_ones_for_their_turn() -> None:
    budget = EventBudget()
    assert [budget.take("flap", 100.0) for _ in range(BURST)] == [0.0] * BURST
    assert budget.take("flap", 100.0) == INTERVAL_S
    assert budget.take("flap", 100.0 + INTERVAL_S) == INTERVAL_S
    assert budget.take("other", 100.0) == 0.0


def test_silence_gives_writes_back_one_by_one_and_never_more_than_a_burst() -> None:
    budget = EventBudget()
    for _ in range(BURST):
        budget.take("flap", 0.0)
    assert [budget.take("flap", 2 * INTERVAL_S) for _ in range(3)] == [0.0, 0.0, INTERVAL_S]
    later_s = 100 * INTERVAL_S
    waits_s = [budget.take("flap", later_s) for _ in range(BURST + 1)]
    assert waits_s == [*[0.0] * BURST, INTERVAL_S]


def test_events_that_were_silent_for_long_are_forgotten() -> None:
    budget = EventBudget()
    for number in range(1000):
        budget.take(f"event-{number}", number * INTERVAL_S)
    assert len(budget._whole_at_s) < 2 * BURST


def test_what_is_known_is_looked_through_only_after_it_has_doubled() -> None:
    budget, passes = EventBudget(), 0
    for number in range(1024):
        before = budget._whole_at_s
        budget.take(f"event-{number}", 100.0)
        passes += budget._whole_at_s is not before
    assert passes <= 11


def test_an_event_that_was_silent_and_is_known_still_has_a_whole_burst_and_no_more() -> None:
    budget = EventBudget()
    for number in range(100):
        budget.take(f"event-{number}", 100.0)
    later_s = 100.0 + 100 * INTERVAL_S
    waits_s = [budget.take("event-99", later_s) for _ in range(BURST + 1)]
    assert waits_s == [*[0.0] * BURST, INTERVAL_S]


def creations(budget: CreationBudget, now_s: float) -> int:
    return sum(budget.take(now_s) for _ in range(2 * NEW_BURST))


def test_new_events_are_a_burst_and_then_so_many_a_second() -> None:
    budget, now_s = CreationBudget(), 1_000_000.0
    assert abs(creations(budget, now_s) - NEW_BURST) <= 1
    assert abs(creations(budget, now_s + 10.0) - 10 * NEW_PER_S) <= 1
    assert abs(creations(budget, now_s + 1_000.0) - NEW_BURST) <= 1


def test_a_clock_that_is_set_back_holds_up_no_new_events_for_long() -> None:
    budget = CreationBudget()
    creations(budget, 1_000_000.0)
    assert creations(budget, 900_000.0) == 0
    assert abs(creations(budget, 900_010.0) - 10 * NEW_PER_S) <= 1
