"""A stream's clock goes on whatever its publisher's timestamps do."""

from __future__ import annotations

from itertools import pairwise

from onair_ingest.readers.timeline import BEGIN_MS, MAX_STEP_MS, WRAP_MS, Timeline


def since_begin(timeline: Timeline, timestamp_ms: int, now_s: float) -> int:
    return timeline.place(timestamp_ms, now_s) - BEGIN_MS


def test_it_keeps_distances() -> None:
    timeline = Timeline()
    assert [since_begin(timeline, 5000 + t, 100 + t / 1000) for t in (0, 33, 21, 67)] == [0, 33, 21, 67]


def test_messages_that_are_earlier_than_the_first_keep_their_distances_and_are_not_below_zero() -> None:
    timeline = Timeline()
    times = [5000, 4977, 4990, 5000 - MAX_STEP_MS, 5010]
    placed = [timeline.place(time, 100.0) for time in times]
    assert [each - placed[0] for each in placed] == [time - times[0] for time in times]
    assert min(placed) == 0
    assert timeline.jumps == 0


def test_times_that_wrap_go_on() -> None:
    timeline = Timeline()
    placed = [since_begin(timeline, (WRAP_MS - 50 + t) % WRAP_MS, 1 + t / 1000) for t in range(0, 200, 33)]
    assert placed == list(range(0, 200, 33))


def test_a_jump_in_either_direction_goes_on_with_the_time_that_passed() -> None:
    for jump in (-3_600_000, -2500, 2500, 86_400_000):
        timeline = Timeline()
        placed = [timeline.place(10_000_000 + t, 1 + t / 1000) for t in range(0, 400, 40)]
        placed += [timeline.place(10_000_000 + t + jump, 1 + t / 1000) for t in range(400, 800, 40)]
        assert [b - a for a, b in pairwise(placed)] == [40] * 19
        assert timeline.jumps == 1


def test_the_other_kind_may_jump_a_little_later() -> None:
    timeline = Timeline()
    assert since_begin(timeline, 1000, 1.0) == 0
    assert since_begin(timeline, 1040, 1.04) == 40
    assert since_begin(timeline, 900_080, 1.08) == 80  # video has jumped
    assert since_begin(timeline, 1090, 1.09) == 90  # audio has not yet
    assert since_begin(timeline, 900_110, 1.11) == 110
    assert since_begin(timeline, 900_120, 1.12) == 120
    assert timeline.jumps == 1


def test_a_pause_of_the_publisher_is_a_pause() -> None:
    timeline = Timeline()
    timeline.place(0, 1.0)
    assert since_begin(timeline, 30_000, 31.0) == 30_000
    assert timeline.jumps == 0


def test_a_burst_after_a_stall_keeps_its_distances() -> None:
    timeline = Timeline()
    timeline.place(0, 1.0)
    assert [since_begin(timeline, t, 6.0) for t in (40, 80, 120)] == [40, 80, 120]
    assert timeline.jumps == 0


def test_a_jump_is_later_than_what_came_in_the_same_moment() -> None:
    timeline = Timeline()
    before = timeline.place(1_000, 10.0)
    assert timeline.place(3_601_000, 10.0) == before + 1
    assert timeline.place(3_601_033, 10.0) == before + 34
