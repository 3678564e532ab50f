"""Sound that begins and ends in the middle of a wave makes no click."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.support.scene import media
from tests.support.scene.browser import Tab
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.live_source import LiveSource, scripts
from tests.support.scene.sound import Sound, forget, listen
from tests.support.waiting import until

pytestmark = pytest.mark.media

CLICK = 0.06
"""A step between two samples; a tone of 440 Hz and half of full scale makes half of it."""
HEARD_DB, SILENT_DB = -10, -60
TIMES = 4
"""A wave that is cut near its zero makes no click, whatever is done."""


async def heard_until(tab: Tab, condition: Any) -> Sound:
    """All that is played until this is true of the last tenth of a second of it."""
    heard: list[Sound] = []

    async def comes() -> bool:
        heard[:] = [await listen(tab, 0.1)]
        return bool(condition(Sound(heard[0].samples[-4800:]).level_db()))

    await until(comes, "it is heard, or silent", 15)
    return heard[0]


async def test_a_source_that_goes_away_and_comes_back_does_not_click(chromium: str) -> None:
    cam = LiveSource((255, 0, 0))
    served = {**scripts(), "/sources/cam": cam.serve()}
    layers = [layer("a", "source", width=160, height=90, data={"source": {"id": "cam"}})]
    async with compositor(chromium, state(scene(*layers)), served) as page:
        steps = []
        for published in (True, False) * TIMES:
            await forget(page.tab)
            cam.published = published
            loud = (lambda db: db > HEARD_DB) if published else (lambda db: db < SILENT_DB)
            steps.append((await heard_until(page.tab, loud)).largest_step())
        assert max(steps) < CLICK, steps
