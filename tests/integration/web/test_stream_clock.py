"""The clock by which media of a source or a guest are due."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import pytest
from tests.support.scene.browser import tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

FOLLOW = """(async () => {
  const {StreamClock} = await import('data:text/javascript;base64,%s');
  const clock = new StreamClock(100), found = [];
  for (const [mediaMs, lagMs] of %s) {
    clock.arrived(mediaMs, mediaMs + lagMs);
    found.push(-clock.mediaMs(0) - 100);
  }
  return found;
})()"""


async def bases_ms(chromium: str, lags_ms: Sequence[float], apart_ms: float) -> list[float]:
    """What the clock takes for the least that media take to arrive, after each of them.

    Args:
        lags_ms: what each takes; they come this far apart.
    """
    script = base64.b64encode(SCRIPTS["stream-clock.js"].read_bytes()).decode()
    records = json.dumps([(1000 + number * apart_ms, lag) for number, lag in enumerate(lags_ms)])
    async with tab(chromium, "about:blank", 160, 90) as page:
        found: list[float] = await page.evaluate(FOLLOW % (script, records))
    return found


async def test_a_first_record_that_was_late_is_made_up_for_at_once(chromium: str) -> None:
    found = await bases_ms(chromium, [80, 75, 20, 30], 50)
    assert found == pytest.approx([80, 75, 20, 20])


@pytest.mark.parametrize("rate", [100, 20])
async def test_it_follows_by_4_ms_a_second_however_many_records_there_are(chromium: str, rate: int) -> None:
    """From when the last second with the former lag is forgotten."""
    found = await bases_ms(chromium, [20] * 2 * rate + [60] * 16 * rate, 1000 / rate)
    assert found[6 * rate] == 20
    assert found[12 * rate] - found[10 * rate] == pytest.approx(8, abs=0.5)
    assert found[-1] == pytest.approx(60, abs=0.5)


async def test_what_is_far_off_is_set(chromium: str) -> None:
    found = await bases_ms(chromium, [200] * 5 + [50], 1000)
    assert found[-2:] == [200, 50]


async def test_what_is_late_for_a_second_is_set_before_the_former_lag_is_forgotten(chromium: str) -> None:
    """It would be silent, or in pieces."""
    found = await bases_ms(chromium, [20] * 300 + [130] * 300, 10)
    assert found[399] == 20
    assert found[501:] == pytest.approx([130] * 99)


async def test_what_was_late_for_less_than_a_second_changes_nothing(chromium: str) -> None:
    found = await bases_ms(chromium, [20] * 310 + [130] * 80 + [20] * 200, 10)
    assert found == pytest.approx([20] * len(found))


async def test_a_clock_that_was_set_later_comes_back_with_its_media(chromium: str) -> None:
    found = await bases_ms(chromium, [20] * 300 + [130] * 300 + [20] * 300, 10)
    assert found[600:] == pytest.approx([20] * 300)


async def test_a_burst_that_waited_sets_nothing(chromium: str) -> None:
    """What came of a second and a half at once, at the end of a second, and all in time since."""
    lags = [20.0] * 245 + [20 + 10.0 * left for left in range(145, 0, -1)] + [20.0] * 300
    found = await bases_ms(chromium, lags, 10)
    assert found == pytest.approx([20] * len(found))
