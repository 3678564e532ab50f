"""After whatever sequence of changes a page looks like one that has just been loaded."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import scene, square, state
from tests.support.scene.picture import RED, TOLERANCE

pytestmark = pytest.mark.media
STEPS = 40
SMOOTHED = 50
"""Pixels along the edges of turned boxes may be smoothed otherwise."""
SEEDS = range(1, 7)
COLOURS = ("red", "green", "blue", "yellow", "white", "#808080")
KINDS = ("square", "square", "text", "image", "group", "hologram")
TRANSITIONS: tuple[dict[str, Any], ...] = (
    {"cut": {}},
    {"crossfade": {"durationMs": 60}},
    {"swipe": {"durationMs": 60, "direction": "TRANSITION_DIRECTION_UP"}},
    {"fadeToColor": {"durationMs": 60, "backgroundColor": "red"}},
)
MEDIA = {"/red.png": media.serves(media.png(80, 40, RED), "image/png")}
SETTLED = "!document.getAnimations().length && document.querySelectorAll('.scene.shown').length === 1"


class Walk:
    """Makes changes at random, and knows what they come to."""

    def __init__(self, seed: int, page: Compositor) -> None:
        self.random, self.page, self.version = random.Random(seed), page, 1
        self.wanted = state(*(self._layout(id_) for id_ in ("one", "two", "three")))

    def _layout(self, id_: str) -> dict[str, Any]:
        coming = [{"fromLayoutIds": [], **each} for each in TRANSITIONS]
        layers = [self._layer(f"{id_}-{index}") for index in range(8)]
        return scene(*layers, id=id_, transitions=coming)

    def _layer(self, id_: str) -> dict[str, Any]:
        pick, colour = self.random, self.random.choice(COLOURS)
        made = square(id_, colour)
        made["type"] = pick.choice(KINDS)
        url = f"{self.page.agent.url}/red.png"
        made["data"] |= {"text": "word", "style": {"color": colour}, "media": {"url": url}}
        made |= {"x": pick.randrange(-50, 300), "y": pick.randrange(-50, 170)}
        for name, values in (("scale", (1, 0.5, 2)), ("rotation", (0, 90, -45)), ("opacity", (1, 0.5, 1))):
            made[name] = pick.choice(values)
        made |= {"hidden": pick.random() < 0.2}
        made |= {name: pick.choice((None, 40, 90)) for name in ("width", "height")}
        return made

    async def step(self) -> None:
        await self.random.choice(
            (self._update, self._update, self._update, self._select, self._arrange, self._reconnect)
        )()

    def _some_layout(self) -> dict[str, Any]:
        found: dict[str, Any] = self.random.choice(self.wanted["layouts"])
        return found

    async def _change(
        self, layout: dict[str, Any], *upsert: dict[str, Any], animation: object = None
    ) -> None:
        self.version += 1
        layout["version"] = self.version
        self.page.agent.state = copy.deepcopy(self.wanted)
        await self.page.agent.change(self.version, *upsert, animation=animation, layout=layout["id"])

    async def _update(self) -> None:
        layout = self._some_layout()
        index = self.random.randrange(1, len(layout["layers"]))
        old = layout["layers"][index]
        new = {**self._layer(old["id"]), "children": old["children"]}
        if self.random.random() < 0.7:
            new |= {"type": old["type"]}
        layout["layers"][index] = new
        moves = {"properties": ["*"], "durationMs": self.random.choice((0, 40, 400))}
        request = {"mode": "PARALLEL", "layers": [{"id": new["id"], "requestAnimation": [moves]}]}
        await self._change(layout, new, animation=self.random.choice((None, request)))

    async def _arrange(self) -> None:
        """Another tree of the same layers, with circles and layers that are named twice or nowhere."""
        layout = self._some_layout()
        ids = [each["id"] for each in layout["layers"]]
        for each in layout["layers"]:
            each["children"] = self.random.sample(ids[1:], 2) if self.random.random() < 0.3 else []
        layout["layers"][0]["children"] = self.random.sample(ids[1:], len(ids) // 2)
        await self._change(layout, *copy.deepcopy(layout["layers"]))

    async def _select(self) -> None:
        self.wanted["selectedLayoutId"] = self.random.choice(("one", "two", "three"))
        await self.page.agent.send(copy.deepcopy(self.wanted))

    async def _reconnect(self) -> None:
        self.page.agent.state = copy.deepcopy(self.wanted)
        await self.page.agent.reconnected()


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_page_looks_like_one_that_was_just_loaded(chromium: str, seed: int) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        walk = Walk(seed, page)
        await page.agent.send(copy.deepcopy(walk.wanted))
        for _ in range(STEPS):
            await walk.step()
        await page.agent.send(copy.deepcopy(walk.wanted))
        selected = walk.wanted["selectedLayoutId"]
        await page.tab.until(
            f"document.querySelector('.scene.shown')?.dataset.layout === '{selected}' && {SETTLED}"
        )
        await page.tab.until("[...document.images].every(each => each.complete)")
        walked = await page.picture()
        layers = await page.tab.evaluate("document.querySelectorAll('.layer').length")
        assert not [line for line in page.tab.console if line.startswith("exception")]
        async with compositor(chromium, walk.wanted, {}) as fresh:
            await fresh.tab.until("[...document.images].every(each => each.complete)")
            loaded = await fresh.picture()
            assert layers == await fresh.tab.evaluate("document.querySelectorAll('.layer').length")
    off = np.abs(walked.pixels.astype(int) - loaded.pixels.astype(int)).max(axis=2)
    assert (off > TOLERANCE).sum() <= SMOOTHED, f"{(off > TOLERANCE).sum()} pixels differ"
