"""Whether video is held back, and when to rejoin for it."""

from __future__ import annotations

from onair_crds.room_publisher.video_flow import Rejoining, VideoFlow
from onair_encoder.publish.rtc.rtc_session import HELD_S


def held(*looks: tuple[float, int, int]) -> list[float]:
    """For how long video is held back, at each look: time, frames that were due, frames sent."""
    flow = VideoFlow()
    return [flow.look(*look) for look in looks]


def test_video_is_held_back_when_no_frame_leaves_though_some_are_due() -> None:
    assert held((0, 0, 0), (1, 30, 30), (2, 60, 32), (3, 90, 32), (4, 120, 32)) == [0, 0, 0, 1, 2]


def test_no_frame_is_missed_where_none_is_due() -> None:
    assert held((0, 9, 9), (1, 9, 9), (2, 9, 9), (9, 9, 9)) == [0] * 4


def test_a_moment_without_frames_is_no_slow_network() -> None:
    assert held((0, 0, 0), (1, 30, 30), (1.9, 57, 30), (2.5, 75, 48), (3.5, 105, 78)) == [0] * 5


def test_video_that_is_published_anew_is_distinguished_from_a_slow_network() -> None:
    """Within three seconds it flows again; one more shows it."""
    looks = [(0.0, 0, 0)]
    looks += [(at / 4, at * 7, min(at, 12) * 7 + max(0, at - 24) * 7) for at in range(1, 40)]
    found = held(*looks)
    assert 2 < max(found) < HELD_S
    assert found[28:] == [0] * 12


def test_single_frames_are_no_flow() -> None:
    trickle = [(second, 30 * second, second) for second in range(6)]
    flowing = [(second, 30 * second, 30 * second - 145) for second in range(6, 10)]
    assert held(*trickle, *flowing) == [0, 0, 1, 2, 3, 4, 0, 0, 0, 0]


def test_half_of_the_frames_is_neither_flow_nor_an_end_of_it() -> None:
    assert held((0, 0, 0), (1, 30, 18), (2, 60, 36), (3, 90, 54)) == [0] * 4
    assert held((0, 0, 0), (2, 60, 3), (3, 90, 25), (4, 120, 48), (5, 150, 70)) == [0, 1, 2, 3, 4]


def test_frames_in_flight_are_not_given_up() -> None:
    flow = VideoFlow()
    found = []
    for second, (due, sent) in enumerate([(5, 0), (25, 20), (80, 20), (112, 50), (172, 110)]):
        flow.look(second, due, sent)
        found.append(flow.dropped)
    assert found == [0, 0, 60, 60, 60]


def test_a_room_is_rejoined_less_and_less_often_while_video_is_held_back() -> None:
    rejoining = Rejoining()
    now, rests = 0.0, []
    for _ in range(5):
        held_s = 0.0
        while not rejoining.due(now, held_s):
            now, held_s = now + 1, held_s + 1
        rests.append(held_s)
    assert rests == [15, 30, 60, 120, 120]


def test_video_that_flowed_for_long_is_freed_soon_again() -> None:
    rejoining = Rejoining()
    assert [rejoining.due(at, at) for at in (14.0, 15.0)] == [False, True]
    assert not rejoining.due(16, 0)
    assert [rejoining.due(100 + at, at) for at in (15.0, 29.0)] == [False, False]
    assert not rejoining.due(250, 0)
    assert [rejoining.due(300 + at, at) for at in (14.0, 15.0)] == [False, True]
