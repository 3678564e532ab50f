"""The page that the programme is taken from: where it is opened, what it is sent, whether it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from onair_crds.contract.program import Program
from onair_encoder.agent.page_address import PageAddress
from onair_encoder.browser.client import BrowserClient
from onair_encoder.encode.paint import Paints
from onair_encoder.paths import COMPOSITOR
from onair_encoder.process.kept_task import keep_running
from onair_encoder.scene.event_follower import EventFollower
from onair_encoder.scene.feed import SceneFeed, draws_scene
from onair_encoder.scene.page_socket import origin_of
from onair_encoder.scene.room_access import RoomAccess
from onair_encoder.studio.facade_door import FacadeDoor
from onair_encoder.studio.page_script import page_script


class Page:
    def __init__(self, scene_file: Path, changed: Callable[[], None]) -> None:
        """
        Args:
            scene_file: where the scene is kept, on memory-backed storage.
            changed: called when what a status reports of the page may have changed.
        """
        self.scene = SceneFeed(scene_file, COMPOSITOR, changed)
        self._browser = BrowserClient(changed)
        self._events = EventFollower(self.scene.apply)
        self._room = RoomAccess(self.scene.set_room)
        self.scene.events_flow = lambda: self._events.flow
        self._address = PageAddress()
        self.facade_door = FacadeDoor()
        self._says_so = False
        self._origin: str | None = None

    async def run(self) -> None:
        """Keeps in touch with the browser and with the facade until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keep_running(self._browser.run, "browser"))
            tasks.create_task(keep_running(self._events.run, "events"))
            tasks.create_task(keep_running(self._room.run, "room"))

    def want(self, program: Program) -> None:
        """Makes a programme's page and scene the wanted ones; the same ones again change nothing."""
        self._says_so = draws_scene(program)
        self._origin = origin_of(program.composition_url)
        self.scene.want(program)
        self._events.want(program)
        self._room.want(program)
        self.facade_door.want(program, self._origin)
        script = page_script(program, self._origin)
        self._browser.want(self._address.of(program), program.video, script)

    @property
    def origin(self) -> str | None:
        """The origin of the page that is wanted, as browsers write it."""
        return self._origin

    @property
    def shown(self) -> bool:
        """Whether the page is on the screen; of the built-in one, whether it says that its layout is up."""
        if self._says_so:
            return self.scene.ready
        return self._browser.loaded

    def set_reducible(self, reducible: bool) -> None:
        """Allows fewer paints, see `BrowserClient`."""
        self._browser.set_reducible(reducible)

    @property
    def paints(self) -> Paints:
        """How often it paints, and how long that takes to the screen."""
        return self._browser.paints

    @property
    def confined(self) -> bool:
        """Whether its browser runs on fewer CPUs than it might."""
        return self._browser.confined

    def error(self, *, on_slate: bool) -> str | None:
        """Why the page cannot be shown; None while it is."""
        if self._says_so and self._browser.loaded and not self.scene.ready and on_slate:
            return "the compositor has not loaded its first layout"
        if self._browser.loading and on_slate:
            return "the page has not said that it is ready"
        return self._browser.error
