"""Who has the most."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_api.event.replay.shares import Shares


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.booleans()), max_size=300))
def test_the_largest_is_whoever_has_the_most_by_now(changes: list[tuple[str, int, bool]]) -> None:
    shares: Shares[tuple[str]] = Shares()
    model = dict.fromkeys("abc", 0)
    for name, amount, less in changes:
        change = -min(amount, model[name]) if less else amount
        model[name] += change
        shares.add((name,), change)
        assert shares.total == sum(model.values())
        if shares.total:
            assert model[shares.largest()[0]] == max(model.values())
    assert len(shares._heap) <= 2 * 3 + 64 + 1
