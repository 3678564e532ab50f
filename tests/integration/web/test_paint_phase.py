"""When pictures of sources are shown is kept away from when the browser paints."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

import pytest
from tests.support.scene.browser import tab

from onair_encoder.sources.source_relay import SCRIPTS

pytestmark = pytest.mark.media

SECONDS, PICTURES = 10, 90
"""The first ones are not counted: where they are between two paints is found out by them."""
PLAY = """(async () => {
  const {PaintPhase} = await import('data:text/javascript;base64,%(script)s');
  const phase = new PaintPhase(), shown = [], shifts = [];
  let seed = 1, looks = 0;
  const noise = () => (seed = seed * 16807 %% 2147483647) / 2147483647 * 2 - 1;
  for (let number = 0, looked = -1; number < %(seconds)d * %(rate)g; number++) {
    const dueMs = %(place)g * %(paintMs)g + number * 1000 / %(rate)g * (1 + %(drift)g);
    if (dueMs - looked > 1000) {
      looked = Math.floor(dueMs / %(paintMs)g) * %(paintMs)g;
      phase.painted(looked, looked + %(paintMs)g + (%(missed)d && looks++ %% 2 === 0 ? %(paintMs)g : 0));
    }
    phase.due(dueMs);
    shifts.push(phase.shiftMs);
    shown.push(Math.floor((dueMs + phase.shiftMs + noise() * %(jitterMs)g) / %(paintMs)g));
  }
  return {shown, shifts};
})()"""


async def play(chromium: str, place: float, paint_ms: float, rate: float = 30, **more: float) -> list[int]:
    """In which paint each picture is seen.

    Args:
        place: of the first picture, between two paints.
        more: how much faster the source's clock is, and whether every second look misses a paint.
    """
    script = base64.b64encode(SCRIPTS["paint-phase.js"].read_bytes()).decode()
    given: dict[str, Any] = {"script": script, "seconds": SECONDS, "place": place, "paintMs": paint_ms}
    given |= {"rate": rate, "jitterMs": 4, "drift": 0, "missed": 0}
    given |= more
    async with tab(chromium, "about:blank", 160, 90) as page:
        played = await page.evaluate(PLAY % given)
    assert max(map(abs, played["shifts"])) <= 0.6 * paint_ms
    return list(played["shown"][PICTURES:])


@pytest.mark.parametrize("place", [0, 0.02, 0.3, 0.5, 0.98])
@pytest.mark.parametrize("missed", [0, 1])
async def test_pictures_that_come_as_often_as_paints_are_each_seen_in_one(
    chromium: str, place: float, missed: int
) -> None:
    shown = await play(chromium, place, 1000 / 30, missed=missed)
    assert {after - before for before, after in pairwise(shown)} == {1}


@pytest.mark.parametrize("drift", [0.0005, -0.0005])
async def test_a_clock_that_is_faster_or_slower_costs_a_picture_each_time_that_it_is_a_paint_off(
    chromium: str, drift: float
) -> None:
    shown = await play(chromium, 0, 1000 / 30, drift=drift)
    steps = [after - before for before, after in pairwise(shown)]
    assert sum(step != 1 for step in steps) <= 1 + SECONDS * abs(drift) * 30


@pytest.mark.parametrize("rate", [25, 60])
async def test_pictures_of_another_rate_are_shown_when_they_are_due(chromium: str, rate: int) -> None:
    """Every place between two paints is theirs; at a whole multiple of paints it does not matter either."""
    place, paint_ms = 0.3, 1000 / 30
    shown = await play(chromium, place, paint_ms, rate, jitterMs=0)
    due = [int(place + number * 1000 / rate / paint_ms + 1e-6) for number in range(SECONDS * rate)]
    assert shown == due[PICTURES:]


CHANGE = """(async () => {
  const {PaintPhase} = await import('data:text/javascript;base64,%s');
  const phase = new PaintPhase();
  let atMs = 0;
  for (const rate of [30, 24, 25, 60, 30]) {
    for (let looks = 0; looks < 6; looks++) {
      atMs = Math.ceil(atMs / (1000 / rate)) * 1000 / rate;
      phase.painted(atMs, atMs + 1000 / rate);
      atMs += 1010;
    }
    if (Math.abs(phase.intervalMs - 1000 / rate) > 0.05) return `${phase.intervalMs} ms at ${rate} a second`;
  }
  return '';
})()"""


async def test_another_rate_of_paints_is_found_out(chromium: str) -> None:
    script = base64.b64encode(SCRIPTS["paint-phase.js"].read_bytes()).decode()
    async with tab(chromium, "about:blank", 160, 90) as page:
        assert not await page.evaluate(CHANGE % script)
