"""How long a page's first paint is waited for: longer while it cannot paint than once it could."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

import pytest

from onair_encoder.browser import first_paint
from onair_encoder.browser.first_paint import FirstPaint

SHORT_S, LONG_S = 0.2, 20.0
PAGE, REDIRECTED, FRAME = "page", "redirected", "frame"
TURNS = 20
"""Of the event loop, within which a wait that is over has ended."""


@pytest.fixture(autouse=True)
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_paint, "BLANK_TIMEOUT_S", SHORT_S)


@pytest.fixture
def paint() -> FirstPaint:
    return FirstPaint()


def says(paint: FirstPaint, name: str, loader: str = PAGE) -> None:
    paint.event("Page.lifecycleEvent", {"name": name, "loaderId": loader, "frameId": "any"})


async def waited(
    paint: FirstPaint,
    *events: Callable[[], object],
    timeout_s: float = LONG_S,
    lost: asyncio.Event | None = None,
) -> bool:
    """What a wait for the page returns, which ends after the last of these and not before."""
    waiting = asyncio.create_task(paint.wait(PAGE, timeout_s, lost or asyncio.Event()))
    for event in events:
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert not waiting.done()
        event()
    async with asyncio.timeout(LONG_S / 2):
        return await waiting


async def test_a_page_is_waited_for_until_it_has_painted(paint: FirstPaint) -> None:
    assert await waited(paint, partial(says, paint, "firstPaint", FRAME), partial(says, paint, "firstPaint"))


async def test_a_page_that_painted_before_it_is_waited_for_is_not(paint: FirstPaint) -> None:
    paint.committed(PAGE)
    says(paint, "firstPaint")
    assert await waited(paint)


@pytest.mark.parametrize("how", ["load", "frame"])
async def test_of_one_that_could_paint_nothing_is_expected_for_long(paint: FirstPaint, how: str) -> None:
    could = partial(says, paint, "load") if how == "load" else partial(paint.could_paint, PAGE)
    began_s = time.monotonic()
    assert await waited(paint, could, lambda: None)
    assert time.monotonic() - began_s >= SHORT_S


async def test_one_that_cannot_paint_in_time_has_nothing_to_show(paint: FirstPaint) -> None:
    loaded, framed = partial(says, paint, "load", FRAME), partial(paint.could_paint, FRAME)
    assert not await waited(paint, loaded, framed, timeout_s=SHORT_S)


async def test_where_a_page_leads_to_another_that_one_is_waited_for(paint: FirstPaint) -> None:
    paint.committed(PAGE)
    assert await waited(
        paint,
        partial(paint.committed, REDIRECTED),
        partial(says, paint, "firstPaint"),
        partial(says, paint, "firstPaint", REDIRECTED),
    )


async def test_pages_that_load_themselves_again_and_paint_nothing_are_not_expected_to_for_long(
    paint: FirstPaint,
) -> None:
    waiting = asyncio.create_task(paint.wait(PAGE, LONG_S, asyncio.Event()))
    began_s, number = time.monotonic(), 0
    while not waiting.done():
        assert time.monotonic() < began_s + LONG_S / 2
        paint.committed(f"{number}")
        says(paint, "load", f"{number}")
        number += 1
        await asyncio.sleep(SHORT_S / 10)
    assert waiting.result()


async def test_a_page_of_before_that_commits_late_does_not_count(paint: FirstPaint) -> None:
    paint.committed("before")
    assert await waited(
        paint,
        partial(says, paint, "firstPaint", "before"),
        partial(paint.committed, PAGE),
        partial(says, paint, "firstPaint"),
    )


async def test_what_was_painted_before_another_navigation_does_not_count(paint: FirstPaint) -> None:
    paint.committed(PAGE)
    says(paint, "firstPaint")
    paint.begin()
    assert not await waited(paint, timeout_s=SHORT_S)


async def test_a_browser_that_is_lost_is_not_waited_for(paint: FirstPaint) -> None:
    lost = asyncio.Event()
    assert await waited(paint, lost.set, lost=lost)


async def test_what_comes_after_the_wait_is_not_followed(paint: FirstPaint) -> None:
    assert await waited(paint, partial(says, paint, "firstPaint"))
    assert not paint.committed(REDIRECTED)
    paint.begin()
    assert paint.committed(REDIRECTED)
