"""The compositor page in a browser, with an agent of tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.scene.browser import Tab, tab
from tests.support.scene.fake_agent import HEIGHT, WIDTH, FakeAgent, Handler
from tests.support.scene.picture import Colour, Picture
from tests.support.scene.sound import TAP
from tests.support.waiting import until

ALMOST_NOTHING = 1e-4
"""A browser that is to hold an animation at its very beginning shows the frame that it has drawn already."""


@dataclass(frozen=True)
class Compositor:
    agent: FakeAgent
    tab: Tab

    async def picture(self) -> Picture:
        return await self.tab.picture()

    async def shows(self, colour: Colour, within: int, x: int = 80, y: int = 45) -> None:
        """Waits until a point has about a colour: a busy browser paints it some frames later."""
        seen: list[Colour] = []

        async def is_seen() -> bool:
            seen.append((await self.picture()).at(x, y))
            return max(abs(is_ - wanted) for is_, wanted in zip(seen[-1], colour, strict=True)) <= within

        state = lambda: (seen[-1], self.tab.console[-3:])  # noqa: E731
        await until(is_seen, f"{colour} at {x}, {y}", state=state)

    async def stinger_loaded(self) -> None:
        """Waits until one can be played: it is loaded outside of the document."""
        which = "!each.isConnected && each.readyState > 1"
        await until(lambda: self.tab.alive("HTMLVideoElement", which), "a stinger is loaded")

    async def seek(self, part: float) -> Picture:
        """The picture where all animations are at this part of their time, delays included."""
        await self.tab.evaluate(
            "for (const each of document.getAnimations()) { each.pause();"
            f" each.currentTime = each.effect.getComputedTiming().endTime * {max(part, ALMOST_NOTHING)}; }}"
        )
        return await self.tab.picture()

    async def go_on(self) -> None:
        """Lets all animations end."""
        await self.tab.evaluate("for (const each of document.getAnimations()) each.finish()")

    async def drawn(self, version: int, *upsert: dict[str, Any], remove: tuple[str, ...] = ()) -> Picture:
        """The picture after a change."""
        await self.change(version, *upsert, remove=remove)
        return await self.picture()

    async def change(
        self, version: int, *upsert: dict[str, Any], remove: tuple[str, ...] = (), animation: object = None
    ) -> None:
        """Changes layers of the first layout; returns once the page has taken it."""
        await self.agent.change(version, *upsert, remove=remove, animation=animation)
        await self.tab.until(f"document.querySelector('[data-layout=one]')?.dataset.version == {version}")


@contextlib.asynccontextmanager
async def compositor(
    address: str,
    first: Mapping[str, Any],
    media: Mapping[str, Handler] | None = None,
    query: str = "",
    port: int | None = None,
) -> AsyncIterator[Compositor]:
    """A page that is ready with its first state.

    Args:
        port: that the agent serves page and media at.
    """
    agent = FakeAgent(first, media or {}, port)
    url = f"{agent.url}/compositor/?at=token{query}"
    async with (
        agent.serving(),
        tab(address, url, WIDTH, HEIGHT, TAP) as page,
    ):
        await agent.ready()
        yield Compositor(agent, page)
