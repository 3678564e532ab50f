"""Paints are measured while a page is shown, and the screen's rate follows from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

import pytest
from tests.support.waiting import until

from onair_encoder.browser import paint_watch
from onair_encoder.browser.cdp import CdpClosed, CdpTimeout
from onair_encoder.browser.chromium import Chromium
from onair_encoder.browser.frame_trace import Trace
from onair_encoder.browser.paint_watch import PaintWatch

USUAL_US, REDUCED_US = 16_667, 33_334
RATES = {"tickUs": USUAL_US, "reducedTickUs": REDUCED_US}
PAGE = "https://example.org/"
EVEN, UNEVEN = Trace([3.0] * 18), Trace([3.0, 40.0] * 9)


class TracedBrowser:
    """Its paints take what a test says, one entry for each trace; it ends with the last one."""

    def __init__(self, *traces: Trace | Exception | None, time_based: bool = False) -> None:
        self._traces = list(traces)
        self.time_based = time_based
        self.lost = asyncio.Event()
        self.lengths_s: list[float] = []

    async def trace_frames(self, length_s: float) -> Trace | None:
        self.lengths_s.append(length_s)
        if not self._traces:
            raise CdpClosed("the end")
        trace = self._traces.pop(0)
        if isinstance(trace, Exception):
            raise trace
        return trace


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the screen was given."""
    given: list[int] = []

    def take(tick_us: int) -> bool:
        given.append(tick_us)
        return True

    monkeypatch.setattr(paint_watch, "set_refresh", take)
    return given


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it waited; nobody waits here."""
    waited: list[float] = []

    async def pause(_: PaintWatch, pause_s: float, __: Callable[[], bool]) -> None:
        waited.append(pause_s)

    monkeypatch.setattr(PaintWatch, "_pause", pause)
    return waited


def following(
    watch: PaintWatch, browser: TracedBrowser, loaded: Callable[[], str | None]
) -> asyncio.Task[None]:
    return watch.following(cast(Chromium, browser), loaded)


async def test_a_page_is_measured_soon_after_it_was_loaded_and_then_rarely(
    pauses: list[float], rates: list[int]
) -> None:
    seen: list[list[float]] = []
    watch = PaintWatch(lambda: seen.append(watch.delays_ms))
    said: list[Trace | Exception | None] = [
        Trace([20.0]),
        Trace([]),
        Trace([22.0]),
        CdpTimeout("busy"),
        None,
        Trace([24.0]),
    ]
    await following(watch, TracedBrowser(*said), lambda: PAGE)
    assert pauses == [0.5, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0], "until it is seen, and then the measurements"
    assert seen == [[20.0], [22.0], [24.0]]


async def test_a_page_whose_motion_goes_by_time_has_the_reduced_rate_while_its_paints_are_even(
    pauses: list[float], rates: list[int]
) -> None:
    told: list[int | None] = []
    watch = PaintWatch(lambda: told.append(watch.tick_us))
    await watch.want(RATES)
    assert told == [USUAL_US], "whoever follows it hears of each change"
    browser = TracedBrowser(*[EVEN] * 5, *[UNEVEN] * 3, EVEN, time_based=True)
    await following(watch, browser, lambda: PAGE)
    assert rates == [USUAL_US, USUAL_US, REDUCED_US, USUAL_US], "wanted, loaded, reduced, raised"
    assert pauses == [0.5, 0.5, 1.0, 0.5, 1.0, 2.0, 2.5, 0.5, 0.5, 0.5, 1.0]
    assert [*dict.fromkeys(told)] == [USUAL_US, REDUCED_US]
    assert told[-1] == USUAL_US
    assert browser.lengths_s == [0.3] * 2 + [0.6] * 6 + [0.3] * 2, "about as many paints"


async def test_others_are_painted_as_often_as_browsers_do(pauses: list[float], rates: list[int]) -> None:
    watch = PaintWatch(lambda: None)
    await watch.want(RATES)
    await following(watch, TracedBrowser(*[EVEN] * 6), lambda: PAGE)
    assert set(rates) == {USUAL_US}


async def test_another_page_has_the_usual_rate_at_first_and_nothing_of_the_former_one(
    pauses: list[float], rates: list[int]
) -> None:
    shown = [PAGE]
    watch = PaintWatch(lambda: None)
    await watch.want(RATES)
    browser = TracedBrowser(EVEN, EVEN, Trace([9.0] * 18), EVEN, time_based=True)
    traced = browser.trace_frames

    async def change_page(length_s: float) -> Trace | None:
        trace = await traced(length_s)
        if len(browser.lengths_s) == 3:
            shown[0] = "https://example.org/other"
        return trace

    browser.trace_frames = change_page  # type: ignore[method-assign]
    await following(watch, browser, lambda: shown[0])
    assert rates[-2:] == [REDUCED_US, USUAL_US]
    assert watch.delays_ms == EVEN.delays_ms, "what was measured meanwhile is of both"


async def test_a_pause_is_over_when_the_page_changes_or_may_have_the_reduced_rate_no_more(
    rates: list[int],
) -> None:
    shown: list[str | None] = [PAGE]
    browser = TracedBrowser(EVEN, EVEN, time_based=True)
    watch = PaintWatch(lambda: None)
    await watch.want(RATES)

    async def ends_by(change: Callable[[], object]) -> None:
        over = partial(watch._is_due, cast(Chromium, browser), lambda: shown[0], PAGE)
        assert not over()
        pause = asyncio.create_task(watch._pause(3600, over))
        await asyncio.sleep(0)
        change()
        async with asyncio.timeout(20):
            await pause

    await ends_by(lambda: shown.insert(0, None))
    shown[0] = PAGE
    for _ in range(2):
        await watch._take(EVEN, 1.0, time_based=True)
    assert watch.tick_us == REDUCED_US
    await ends_by(lambda: setattr(browser, "time_based", False))


async def test_a_screen_that_refuses_a_rate_is_not_said_to_have_it(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.setattr(paint_watch, "set_refresh", lambda tick_us: tick_us == USUAL_US)
    watch = PaintWatch(lambda: None)
    await watch.want(RATES)
    await following(watch, TracedBrowser(EVEN, EVEN, EVEN, time_based=True), lambda: PAGE)
    assert watch.tick_us == USUAL_US


async def test_a_browser_that_can_be_followed_no_more_is_taken_for_lost(pauses: list[float]) -> None:
    browser = TracedBrowser(RuntimeError("can't start new thread"))
    task = following(PaintWatch(lambda: None), browser, lambda: PAGE)
    with pytest.raises(RuntimeError):
        await task
    await until(browser.lost.is_set, "it is lost")
