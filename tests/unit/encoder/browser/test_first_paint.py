"""How long a page's first paint is waited for: longer while it loads than once it has loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from onair_encoder.browser import first_paint
from onair_encoder.browser.first_paint import FirstPaint

SHORT_S, LONG_S = 0.05, 20.0
PAGE, REDIRECTED, FRAME = "page", "redirected", "frame"


@pytest.fixture(autouse=True)
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_paint, "LOADED_TIMEOUT_S", SHORT_S)


def says(paint: FirstPaint, name: str, loader: str) -> None:
    paint.event("Page.lifecycleEvent", {"name": name, "loaderId": loader, "frameId": "any"})


def navigates(paint: FirstPaint, loader: str, **frame: str) -> None:
    paint.event("Page.frameNavigated", {"frame": {"id": "any", "loaderId": loader, **frame}})


async def waited(
    paint: FirstPaint,
    *events: Callable[[], None],
    timeout_s: float = LONG_S,
    lost: asyncio.Event | None = None,
) -> bool:
    """What a wait for the page returns if these come one after the other meanwhile."""
    waiting = asyncio.create_task(paint.wait(PAGE, timeout_s, lost or asyncio.Event()))
    for event in events:
        await asyncio.sleep(0)
        assert not waiting.done()
        event()
    async with asyncio.timeout(LONG_S / 2):
        return await waiting


async def test_a_page_is_waited_for_until_it_has_painted() -> None:
    paint = FirstPaint()
    assert await waited(
        paint, lambda: says(paint, "firstPaint", FRAME), lambda: says(paint, "firstPaint", PAGE)
    )


async def test_a_page_that_painted_before_it_is_waited_for_is_not() -> None:
    paint = FirstPaint()
    says(paint, "firstPaint", PAGE)
    assert await waited(paint)


async def test_of_one_that_has_loaded_nothing_is_expected_for_long() -> None:
    paint = FirstPaint()
    assert await waited(paint, lambda: says(paint, "load", PAGE))


async def test_one_that_neither_paints_nor_loads_in_time_has_nothing_to_show() -> None:
    paint = FirstPaint()
    assert not await waited(paint, lambda: says(paint, "load", FRAME), timeout_s=SHORT_S)


async def test_where_a_page_leads_to_another_that_one_is_waited_for() -> None:
    paint = FirstPaint()
    navigates(paint, PAGE)
    assert await waited(
        paint,
        lambda: navigates(paint, FRAME, parentId="main"),
        lambda: navigates(paint, REDIRECTED),
        lambda: says(paint, "firstPaint", PAGE),
        lambda: says(paint, "firstPaint", REDIRECTED),
    )


async def test_what_was_painted_before_another_navigation_does_not_count() -> None:
    paint = FirstPaint()
    says(paint, "firstPaint", PAGE)
    paint.begin()
    assert not await waited(paint, timeout_s=SHORT_S)


async def test_a_browser_that_is_lost_is_not_waited_for() -> None:
    paint, lost = FirstPaint(), asyncio.Event()
    assert await waited(paint, lost.set, lost=lost)
