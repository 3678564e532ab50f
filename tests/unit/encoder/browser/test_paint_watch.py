"""Paints are measured while a page is shown, and the screen's rate follows from them."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from tests.support.waiting import until

from onair_encoder.browser import paint_watch
from onair_encoder.browser.cdp import CdpTimeout
from onair_encoder.browser.chromium import Chromium
from onair_encoder.browser.paint_watch import PaintWatch

USUAL_US, SPARING_US = 16_667, 33_334
PAGE = "https://example.org/"


class Over(Exception):
    """Enough was seen."""


class Browser:
    """Its paints take what a test says, one entry for each look; None: it does not answer."""

    def __init__(self, *delays_ms: list[float] | None, time_based: bool = False) -> None:
        self._delays_ms = list(delays_ms)
        self.time_based = time_based

    async def paint_delays_ms(self) -> list[float]:
        if not self._delays_ms:
            raise Over
        delays_ms = self._delays_ms.pop(0)
        if delays_ms is None:
            raise CdpTimeout("Tracing.start")
        return delays_ms


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the screen was given."""
    given: list[int] = []
    monkeypatch.setattr(paint_watch, "set_refresh", given.append)
    return given


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it waited; nobody waits here."""
    waited: list[float] = []

    async def pause(_: PaintWatch, __: Browser, pause_s: float) -> None:
        waited.append(pause_s)

    monkeypatch.setattr(PaintWatch, "_pause", pause)
    return waited


async def follow(watch: PaintWatch, browser: Browser) -> None:
    with pytest.raises(Over):
        await watch.follow(cast(Chromium, browser), lambda: PAGE)


async def test_a_page_is_measured_soon_after_it_was_loaded_and_then_rarely(pauses: list[float]) -> None:
    seen: list[list[float]] = []
    watch = PaintWatch(lambda: seen.append(watch.delays_ms))
    await follow(watch, Browser([20.0], [], [22.0], None, [24.0], [25.0]))
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert seen == [[20.0], [22.0], [24.0], [25.0]]


async def test_a_page_whose_motion_goes_by_time_is_painted_sparingly_while_its_paints_are_even(
    pauses: list[float], rates: list[int]
) -> None:
    even, uneven = [3.0] * 9, [3.0, 40.0] * 5
    told: list[int | None] = []
    watch = PaintWatch(lambda: told.append(watch.tick_us))
    await watch.want({"tickUs": USUAL_US, "sparingTickUs": SPARING_US})
    await follow(watch, Browser(even, even, even, even, even, uneven, uneven, uneven, even, time_based=True))
    assert rates == [USUAL_US, USUAL_US, SPARING_US, USUAL_US], "wanted, loaded, lowered, raised"
    assert pauses == [0.5, 1.0, 0.5, 1.0, 2.0, 2.5, 0.5, 0.5, 0.5, 1.0]
    assert told[-1] == USUAL_US
    assert SPARING_US in told


async def test_others_are_painted_as_often_as_browsers_do(pauses: list[float], rates: list[int]) -> None:
    watch = PaintWatch(lambda: None)
    await watch.want({"tickUs": USUAL_US, "sparingTickUs": SPARING_US})
    await follow(watch, Browser(*[[3.0] * 18] * 6))
    assert set(rates) == {USUAL_US}


async def test_a_page_that_begins_to_count_its_frames_is_looked_at_within_half_a_second(
    rates: list[int],
) -> None:
    browser = Browser([3.0] * 18, [3.0] * 18, [3.0] * 9, time_based=True)
    watch = PaintWatch(lambda: None)
    await watch.want({"tickUs": USUAL_US, "sparingTickUs": SPARING_US})
    following = asyncio.create_task(watch.follow(cast(Chromium, browser), lambda: PAGE))
    await until(lambda: watch.tick_us == SPARING_US, "it paints sparingly")
    browser.time_based = False
    await until(lambda: watch.tick_us == USUAL_US, "it paints as usual", 2)
    with pytest.raises(Over):
        await following
