"""Pauses between attempts."""

from __future__ import annotations

from onair_encoder.publish.backoff import Backoff, YieldingBackoff


def test_back_off_grows_to_its_limit_and_is_reset() -> None:
    backoff = Backoff(lambda low, high: high)
    assert [backoff.next_s() for _ in range(11)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]
    backoff.reset()
    assert backoff.next_s() == 0.1


def test_what_only_a_change_can_fix_is_retried_slowly() -> None:
    backoff = Backoff(lambda low, high: low)
    assert [backoff.next_s(permanent=True) for _ in range(2)] == [15, 15]


def test_an_encoder_that_may_have_been_replaced_waits_30_s_and_ever_longer() -> None:
    backoff = YieldingBackoff(lambda low, high: low)
    assert not backoff.begun
    assert [backoff.next_s() for _ in range(7)] == [30, 60, 120, 240, 480, 600, 600]
    assert backoff.begun
    backoff.reset()
    assert backoff.next_s() == 30
    assert YieldingBackoff(lambda low, high: high).next_s() == 37.5
