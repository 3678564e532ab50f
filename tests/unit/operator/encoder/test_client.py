"""How often an encoder that does not respond is asked again."""

from __future__ import annotations

from itertools import accumulate

import pytest

from onair_operator.encoder.client import (
    RETRY_MAX_S,
    RETRY_MIN_S,
    STARTING_RETRY_MAX_S,
    next_retry_s,
)


@pytest.mark.parametrize(
    ("starting", "least", "most"), [(True, 45, 60), (False, 8, 14)], ids=["while it starts", "afterwards"]
)
def test_an_encoder_that_starts_is_asked_more_often(starting: bool, least: int, most: int) -> None:
    delays_s = list(accumulate([RETRY_MIN_S] * 60, lambda before, _: next_retry_s(before, starting=starting)))
    asked_at_s = list(accumulate(delays_s))
    assert least <= sum(at_s <= 10 for at_s in asked_at_s) <= most
    assert delays_s == sorted(delays_s)
    assert delays_s[-1] == (STARTING_RETRY_MAX_S if starting else RETRY_MAX_S)
