"""Feeds the page with its scene: what the programme says, what was changed since, what a restart kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import FailedLayer, Program
from onair_crds.contract.scene import Canvas, LayersChange, PageRoom, ProgramLayout, SceneState
from onair_encoder.scene import scene_file
from onair_encoder.scene.layer_failures import FailedLayers
from onair_encoder.scene.page_files import PageFiles
from onair_encoder.scene.page_socket import PageSockets, origin_of
from onair_encoder.scene.scene import LayersEvent, Scene

STORE_DELAY_S = 0.2
HOLD_S = 1.0
"""How long a programme's newer layers wait for the events of them, which have their animations."""


class SceneFeed:
    def __init__(self, file: Path, files: Path, changed: Callable[[], None]) -> None:
        """
        Args:
            file: on memory-backed storage, where layouts are kept that are newer than the programme's.
            files: the folder of the built-in page.
            changed: called when a page has said something that a status reports.
        """
        self.events_flow: Callable[[], bool] = lambda: False
        """Whether changes arrive by events, too: now, or as soon as a stream is open again."""
        self._scene = Scene()
        self._pages = PageSockets(self._scene.state, changed)
        self._failed_layers = FailedLayers()
        self._files = PageFiles(files)
        self._file = file
        self._program: Program | None = None
        self._storing: asyncio.TimerHandle | None = None
        self._awaited: dict[str, asyncio.TimerHandle] = {}
        """Layouts of which events are awaited, each until its time is up."""

    def add_to(self, app: web.Application) -> None:
        self._pages.add_to(app)
        self._files.add_to(app)

    # -- what is to be drawn ----------------------------------------------------------------------

    def want(self, program: Program) -> None:
        """Makes a programme's scene the wanted one; the same one again changes nothing."""
        if self._program is None:
            self._scene.restore(scene_file.load(self._file))
        self._program = program
        self._pages.page_origin = origin_of(program.composition_url)
        self._await_events_of(program)
        self._take(program)

    def _await_events_of(self, program: Program) -> None:
        """Lets layers that a programme has newer wait: how they come to be so only their events say."""
        if program.scene is None or not self.events_flow():
            return
        loop = asyncio.get_running_loop()
        for each in program.scene.layouts:
            if each.id not in self._awaited and self._scene.is_older_than(each):
                self._awaited[each.id] = loop.call_later(HOLD_S, self._awaited_enough, each)

    def _awaited_enough(self, layout: ProgramLayout) -> None:
        """Takes layers that no event told in time; those of later programmes get a time of their own."""
        del self._awaited[layout.id]
        if change := self._scene.take_late(layout):
            self._pages.send(change)
            self._store_soon()
        if self._program:
            self._await_events_of(self._program)
            self._take(self._program)

    def _take(self, program: Program) -> None:
        canvas = Canvas(width=program.video.width, height=program.video.height)
        told = self._scene.take(program.scene, canvas, self._awaited)
        messages: list[SceneState | LayersChange] = [*told] if isinstance(told, list) else [told]
        messages += self._scene.take_early()
        for message in messages:
            self._pages.send(message)
        if messages:
            self._store_soon()

    def apply(self, event: LayersEvent) -> None:
        """Takes a change that an event told."""
        if change := self._scene.apply(event):
            self._pages.send(change)
            self._store_soon()

    def set_room(self, room: PageRoom | None) -> None:
        """Tells the page what it may join the project's room with."""
        if state := self._scene.set_room(room):
            self._pages.send(state)

    def _store_soon(self) -> None:
        if self._storing is None:
            self._storing = asyncio.get_running_loop().call_later(STORE_DELAY_S, self._store)

    def _store(self) -> None:
        self._storing = None
        scene_file.store(self._file, self._scene.kept())

    def close(self) -> None:
        """Keeps what is not kept yet; nothing is taken any more."""
        for late in self._awaited.values():
            late.cancel()
        if self._storing:
            self._storing.cancel()
            self._store()

    # -- what became of it ------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether a page has said that its first layout is up."""
        return self._pages.ready

    @property
    def failed_layers(self) -> list[FailedLayer]:
        return self._failed_layers.of(self._pages.failures, self._scene.selected_layout_id)

    @property
    def failures(self) -> int:
        """Layers that cannot be shown, in all."""
        return len(self._pages.failures)

    @property
    def levels(self) -> dict[str, float]:
        """How loud layers are, dBFS, by id; as of a page that is connected."""
        return self._pages.levels


def draws_scene(program: Program) -> bool:
    """Whether the page is the built-in one."""
    return program.composition_url == COMPOSITOR_URL
