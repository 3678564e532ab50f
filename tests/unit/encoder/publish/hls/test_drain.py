"""When the storing of what waits is given up."""

from __future__ import annotations

import pytest

from onair_encoder.publish.hls.drain import DrainTerms

RECORDING, LIVE = DrainTerms(8.0, 600.0, 30.0), DrainTerms(8.0, 8.0, 30.0)


@pytest.mark.parametrize(
    ("terms", "passed_s", "still_s", "over"),
    [
        (RECORDING, 5.0, 5.0, False),
        (RECORDING, 29.0, 29.0, False),
        (RECORDING, 31.0, 31.0, True),
        (RECORDING, 500.0, 3.0, False),
        (RECORDING, 598.0, 0.0, True),
        (LIVE, 5.9, 0.0, False),
        (LIVE, 6.0, 0.0, True),
    ],
)
def test_a_recording_is_drained_while_something_is_stored(
    terms: DrainTerms, passed_s: float, still_s: float, over: bool
) -> None:
    assert terms.is_over(passed_s, still_s, hurry=False) is over


def test_there_is_no_more_than_the_least_time_where_the_pod_is_being_deleted() -> None:
    assert not RECORDING.is_over(5.9, 0.0, hurry=True)
    assert RECORDING.is_over(6.0, 0.0, hurry=True)
