"""A page paints once for each frame where it may and its paints are even, and twice where they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.browser.frame_trace import Trace
from onair_encoder.browser.paint_rate import PAUSE_MAX_S, PAUSE_MIN_S, TO_RAISE, TO_REDUCE, PaintRate

USUAL_US, REDUCED_US = 16_667, 33_334
EVEN, UNEVEN, CALM = Trace([3.0] * 18), Trace([29.0, 32.0] * 9), Trace([])


def rate() -> PaintRate:
    rate = PaintRate()
    rate.want(USUAL_US, REDUCED_US)
    return rate


def reduced(now_s: float = 0.0) -> PaintRate:
    found = rate()
    for _ in range(TO_REDUCE):
        found.decide(EVEN, now_s, time_based=True)
    assert found.reduced
    return found


def raised(now_s: float = 0.0) -> PaintRate:
    found = reduced(now_s)
    for _ in range(TO_RAISE):
        found.decide(UNEVEN, now_s, time_based=True)
    assert not found.reduced
    return found


def test_it_is_the_usual_rate_until_paints_were_even_several_times_in_a_row() -> None:
    found = rate()
    assert found.tick_us == USUAL_US
    for trace in ([EVEN] * (TO_REDUCE - 1) + [UNEVEN]) * 2 + [EVEN] * (TO_REDUCE - 1) + [CALM]:
        assert not found.decide(trace, 0, time_based=True)
    for _ in range(TO_REDUCE - 1):
        assert not found.decide(EVEN, 0, time_based=True)
    assert found.decide(EVEN, 0, time_based=True)
    assert found.tick_us == REDUCED_US


@pytest.mark.parametrize(
    ("trace", "even"),
    [
        pytest.param(EVEN, True, id="fast"),
        pytest.param(Trace([36.0] * 9), True, id="each a frame late"),
        pytest.param(Trace([12.0, 16.0] * 9), True, id="about where a second paint would begin"),
        pytest.param(Trace([3.0] * 8 + [60.0]), True, id="one that is late"),
        pytest.param(Trace([3.0] * 7 + [60.0] * 2), False, id="two of nine that are late"),
        pytest.param(Trace([3.0] * 18 + [60.0] * 2), True, id="two of twenty that are late"),
        pytest.param(Trace([3.0] * 18 + [60.0] * 3), False, id="three of twenty-one that are late"),
        pytest.param(Trace([3.0] * 9, dropped=2), False, id="frames that are dropped"),
        pytest.param(CALM, True, id="a page that does not move"),
        pytest.param(Trace([], dropped=4), False, id="so many frames that are dropped that none is known"),
        pytest.param(None, False, id="a browser that is too busy to tell"),
    ],
)
def test_paints_that_stay_uneven_raise_it(trace: Trace | None, *, even: bool) -> None:
    found = reduced()
    for _ in range(TO_RAISE - 1):
        assert not found.decide(trace, 0, time_based=True)
        assert found.may_rise is not even
    assert found.decide(trace, 0, time_based=True) is not even
    assert found.tick_us == (REDUCED_US if even else USUAL_US)
    assert not found.may_rise


def test_at_the_usual_rate_paints_are_judged_by_that() -> None:
    found = rate()
    for _ in range(3 * TO_REDUCE):
        assert not found.decide(Trace([12.0, 16.0] * 9), 0, time_based=True)


def test_a_transition_does_not_raise_it() -> None:
    found = reduced()
    for _ in range(5):
        for trace in [UNEVEN] * (TO_RAISE - 1) + [EVEN]:
            assert not found.decide(trace, 0, time_based=True)


def test_it_is_reduced_again_ever_later_but_for_another_page() -> None:
    found, now_s, pause_s = raised(), 0.0, PAUSE_MIN_S
    for _ in range(8):
        for _ in range(2 * TO_REDUCE):
            assert not found.decide(EVEN, now_s + pause_s - 0.1, time_based=True)
        now_s += pause_s
        assert found.decide(EVEN, now_s, time_based=True)
        assert [found.decide(UNEVEN, now_s, time_based=True) for _ in range(TO_RAISE)][-1]
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
    found.begin()
    assert found.tick_us == USUAL_US
    assert [found.decide(EVEN, now_s, time_based=True) for _ in range(TO_REDUCE)][-1]
    for _ in range(TO_RAISE):
        found.decide(UNEVEN, now_s, time_based=True)
    for _ in range(TO_REDUCE):
        found.decide(EVEN, now_s + PAUSE_MIN_S, time_based=True)
    assert found.reduced, "the pause is the shortest again"


def test_a_page_that_may_count_its_animation_frames_has_the_usual_rate_at_once_and_for_a_while() -> None:
    found = reduced()
    assert found.decide(EVEN, 0, time_based=False)
    assert found.tick_us == USUAL_US
    for _ in range(3 * TO_REDUCE):
        assert not found.decide(EVEN, PAUSE_MIN_S - 0.1, time_based=True), "it cannot have it changed at will"
    assert found.decide(EVEN, PAUSE_MIN_S, time_based=True)
    for _ in range(3 * TO_REDUCE):
        assert not rate().decide(EVEN, 0, time_based=False)


@pytest.mark.parametrize("reduced_us", [None, USUAL_US])
def test_where_there_is_no_lower_rate_it_stays(reduced_us: int | None) -> None:
    found = rate()
    found.want(USUAL_US, reduced_us)
    for _ in range(3 * TO_REDUCE):
        assert not found.decide(EVEN, 0, time_based=True)
    assert found.tick_us == USUAL_US


def test_captures_that_are_out_of_step_have_the_usual_rate_at_once() -> None:
    found = reduced()
    found.want(USUAL_US, None)
    assert found.tick_us == USUAL_US


@given(
    st.lists(st.tuples(st.sampled_from([EVEN, UNEVEN, CALM, None]), st.floats(0, 60), st.booleans())),
)
def test_whatever_comes_it_is_never_reduced_within_the_shortest_pause_after_it_was_raised(
    measurements: list[tuple[Trace | None, float, bool]],
) -> None:
    found, now_s, raised_s = rate(), 0.0, float("-inf")
    for trace, later_s, time_based in measurements:
        now_s += later_s
        if not found.decide(trace, now_s, time_based=time_based):
            continue
        if found.reduced:
            assert time_based
            assert now_s - raised_s >= PAUSE_MIN_S
        else:
            raised_s = now_s
