"""Sound that begins and ends in the middle of a wave makes no click."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, state
from tests.support.scene.live_source import LiveSource
from tests.support.scene.sound import RATE_HZ, Sound, forget, listen
from tests.support.waiting import until

pytestmark = pytest.mark.media

CLICK = 0.06
"""A step between two samples; a tone of 440 Hz and half of full scale makes half of it."""
HEARD_DB, SILENT_DB = -10, -60
PIECE_S = 0.1
CONTEXT = """({
  pageMs: performance.now(), samples: heard.samples.length, state: heard.context?.state,
  timeS: heard.context?.currentTime, output: JSON.stringify(heard.context?.getOutputTimestamp()),
})"""
TIMES = 4
"""A wave that is cut near its zero makes no click, whatever is done."""


async def heard_until(page: Compositor, is_loud: bool) -> Sound:
    """All that is played until a tenth of a second of it has been loud, or the last one is silent."""
    context: dict[str, Any] = {}

    async def comes() -> Sound | None:
        context.update(await page.tab.evaluate(CONTEXT))
        sound = await listen(page.tab, PIECE_S)
        last = Sound(sound.samples[-round(PIECE_S * RATE_HZ) :])
        if not is_loud:
            return sound if last.level_db() < SILENT_DB else None
        # A test that looks late has what was played before
        return sound if any(each.level_db() > HEARD_DB for each in (*sound.windows(PIECE_S), last)) else None

    state = lambda: (context, page.tab.console[-5:])  # noqa: E731
    return await until(comes, f"it is {'heard' if is_loud else 'silent'}", 15, state=state)


@contextlib.asynccontextmanager
async def page_with_source(chromium: str) -> AsyncIterator[tuple[Compositor, LiveSource]]:
    """A page that plays a source, and that source."""
    cam = LiveSource((255, 0, 0))
    served = {"/sources/cam": cam.serve()}
    shown = layer("a", "source", width=160, height=90, data={"source": {"id": "cam"}})
    async with compositor(chromium, state(scene(shown)), served) as page:
        yield page, cam


async def test_a_source_that_goes_away_and_comes_back_does_not_click(chromium: str) -> None:
    async with page_with_source(chromium) as (page, cam):
        steps = []
        for published in (True, False) * TIMES:
            await forget(page.tab)
            cam.published = published
            steps.append((await heard_until(page, published)).largest_step())
        assert max(steps) < CLICK, steps


async def test_gaps_in_what_a_source_sends_do_not_click(chromium: str) -> None:
    async with page_with_source(chromium) as (page, cam):
        await heard_until(page, True)
        steps = []
        for has_audio in (False, True) * TIMES:
            await forget(page.tab)
            cam.has_audio = has_audio
            steps.append((await heard_until(page, has_audio)).largest_step())
        assert max(steps) < CLICK, steps


async def test_audio_whose_times_step_back_a_little_goes_on(chromium: str) -> None:
    """As where a publisher's clock drifts from its samples: what waits to be played still is."""
    async with page_with_source(chromium) as (page, cam):
        await heard_until(page, True)
        await forget(page.tab)
        for number in range(1, TIMES + 1):
            cam.steps_us -= 40_000
            await listen(page.tab, 0.4 * number)
        sound = await listen(page.tab, 2)
        quiet = [each for each in sound.windows(0.02) if each.level_db() < HEARD_DB]
        assert len(quiet) <= TIMES, "it is never silent for longer than a step"
        assert sound.largest_step() < CLICK


MID_WAVE_HZ = 440.125
"""A clip of two seconds ends at the top of a wave of this."""
STINGER = "document.querySelector('.cover video')"


def clip() -> bytes:
    return media.webm((255, 255, 0), (255, 255, 0), tone_hz=MID_WAVE_HZ)


@pytest.mark.parametrize("then", ["end", "cut", "stinger"])
async def test_a_stinger_begins_and_ends_without_a_click(chromium: str, then: str) -> None:
    """At its end, or in its middle as another layout is selected, by a cut or the same stinger."""
    served = {"/stinger.webm": media.serves(clip(), "video/webm")}
    async with compositor(chromium, state(scene()), served) as page:
        cut = {"cutPointMs": 500, "media": {"url": f"{page.agent.url}/stinger.webm", "volume": 1}}
        stung = [{"fromLayoutIds": [], "stinger": {"cut": cut}}]
        back = [{"fromLayoutIds": [], "cut": {}}] if then == "cut" else stung
        layouts = [scene(transitions=back), scene(id="two", transitions=stung)]
        await page.agent.send(state(*layouts))
        await page.stinger_loaded()
        await forget(page.tab)
        steps = []
        for _ in range(2):
            await page.agent.send(state(*layouts, selectedLayoutId="two"))
            await page.tab.until(f"{STINGER}?.currentTime > 0.7")
            if then == "end":
                await page.tab.until(f"!{STINGER}")
            await page.agent.send(state(*layouts))
            if then == "end":  # else there is one still
                await page.tab.until(STINGER)
            await page.tab.until(f"!{STINGER}")
            sound = await heard_until(page, False)
            await forget(page.tab)
            assert sound.level_db() > HEARD_DB - 10
            steps.append(sound.largest_step())
        assert max(steps) < CLICK, steps


async def test_a_video_that_ends_in_mid_wave_does_not_click_and_is_heard_when_it_begins_anew(
    chromium: str,
) -> None:
    served = {"/clip.webm": media.serves(clip(), "video/webm")}
    async with compositor(chromium, state(scene()), served) as page:
        data = {"media": {"url": f"{page.agent.url}/clip.webm"}}
        layouts = [scene(), scene(layer("a", "video", width=160, height=90, data=data), id="two")]
        steps = []
        for _ in range(2):
            await page.agent.send(state(*layouts, selectedLayoutId="two"))
            await heard_until(page, True)
            sound = await heard_until(page, False)
            loud = [each for each in sound.windows(0.05) if each.level_db() > HEARD_DB]
            assert len(loud) * 0.05 >= 1.8, "it is heard from its beginning to its end"
            steps.append(sound.largest_step())
            await page.agent.send(state(*layouts))
            await page.tab.until("document.querySelector('video').currentTime === 0")
            await forget(page.tab)
        assert max(steps) < CLICK, steps
