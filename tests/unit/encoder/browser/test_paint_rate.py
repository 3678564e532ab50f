"""A page paints once for each frame where it may and its paints are even, and twice where they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.browser.paint_rate import EVEN_LOOKS, PAUSE_MAX_S, PAUSE_MIN_S, UNEVEN_LOOKS, PaintRate

USUAL_US, SPARING_US = 16_667, 33_334
EVEN, UNEVEN = [3.0] * 9, [29.0, 32.0] * 5


def rate() -> PaintRate:
    rate = PaintRate()
    rate.want(USUAL_US, SPARING_US)
    return rate


def spared(now_s: float = 0.0) -> PaintRate:
    found = rate()
    for _ in range(EVEN_LOOKS):
        found.look(EVEN, now_s, time_based=True)
    assert found.sparing
    return found


def test_it_is_the_usual_rate_until_paints_were_even_several_times_in_a_row() -> None:
    found = rate()
    assert found.tick_us == USUAL_US
    for delays in ([EVEN] * (EVEN_LOOKS - 1) + [UNEVEN]) * 2:
        assert not found.look(delays, 0, time_based=True)
    for _ in range(EVEN_LOOKS - 1):
        assert not found.look(EVEN, 0, time_based=True)
    assert found.look(EVEN, 0, time_based=True)
    assert found.tick_us == SPARING_US


@pytest.mark.parametrize(
    ("delays_ms", "raised"),
    [
        pytest.param([3.0] * 9, False, id="fast"),
        pytest.param([36.0] * 9, False, id="each a frame late"),
        pytest.param([3.0] * 8 + [60.0], False, id="one that is late"),
        pytest.param([3.0] * 7 + [60.0] * 2, True, id="two that are late"),
        pytest.param([], False, id="a page that does not move"),
        pytest.param(None, True, id="a browser that does not answer"),
    ],
)
def test_paints_that_stay_uneven_raise_it(delays_ms: list[float] | None, *, raised: bool) -> None:
    found = spared()
    for _ in range(UNEVEN_LOOKS - 1):
        assert not found.look(delays_ms, 0, time_based=True)
        assert found.in_doubt is raised
    assert found.look(delays_ms, 0, time_based=True) is raised
    assert found.tick_us == (USUAL_US if raised else SPARING_US)
    assert not found.in_doubt


def test_a_transition_does_not_raise_it() -> None:
    found = spared()
    for _ in range(5):
        for delays in [UNEVEN] * (UNEVEN_LOOKS - 1) + [EVEN]:
            assert not found.look(delays, 0, time_based=True)


def test_it_is_lowered_again_ever_later() -> None:
    found, now_s, pause_s = spared(), 0.0, PAUSE_MIN_S
    for _ in range(8):
        assert [found.look(UNEVEN, now_s, time_based=True) for _ in range(UNEVEN_LOOKS)].index(
            True
        ) == UNEVEN_LOOKS - 1
        for _ in range(2 * EVEN_LOOKS):
            assert not found.look(EVEN, now_s + pause_s - 0.1, time_based=True)
        now_s += pause_s
        assert found.look(EVEN, now_s, time_based=True)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
    found.begin()
    assert found.tick_us == USUAL_US
    for _ in range(EVEN_LOOKS):
        found.look(EVEN, now_s, time_based=True)
    assert found.sparing, "another page has no past"


def test_a_page_that_may_count_its_animation_frames_has_the_usual_rate_at_once() -> None:
    found = spared()
    assert found.look(EVEN, 0, time_based=False)
    for _ in range(3 * EVEN_LOOKS):
        assert not found.look(EVEN, 0, time_based=False)
    assert found.tick_us == USUAL_US


@pytest.mark.parametrize("sparing_us", [None, USUAL_US])
def test_where_there_is_no_lower_rate_it_stays(sparing_us: int | None) -> None:
    found = rate()
    found.want(USUAL_US, sparing_us)
    for _ in range(3 * EVEN_LOOKS):
        assert not found.look(EVEN, 0, time_based=True)
    assert found.tick_us == USUAL_US


@given(st.lists(st.tuples(st.sampled_from([EVEN, UNEVEN, [], None]), st.floats(0, 60), st.booleans())))
def test_whatever_comes_it_never_changes_twice_within_the_shortest_pause_but_for_the_better(
    looks: list[tuple[list[float] | None, float, bool]],
) -> None:
    found, now_s, raised_s = rate(), 0.0, float("-inf")
    for delays_ms, later_s, time_based in looks:
        now_s += later_s
        changed = found.look(delays_ms, now_s, time_based=time_based)
        if changed and found.sparing:
            assert now_s - raised_s >= PAUSE_MIN_S
            assert time_based
        elif changed and time_based:
            raised_s = now_s
        assert found.tick_us in (USUAL_US, SPARING_US)
