"""The scene that the page draws: the programme's, with what was changed since it was made. Pure.

The newer version of a layout wins, wherever it comes from. A programme has whole layouts and so corrects what
events of the same version told in part; an event of a version that a programme brought already says nothing.
Events of a layout may come before the first programme that has it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from onair_crds.contract.layers import reached
from onair_crds.contract.scene import (
    Canvas,
    ChangeAnimation,
    LayersChange,
    PageLayout,
    PageRoom,
    ProgramLayout,
    ProgramScene,
    SceneLayer,
    SceneState,
)

NOTHING = ProgramScene()
MAX_EARLY = 16
"""Events of layouts that are not known yet, in all."""


@dataclass(frozen=True)
class LayersEvent:
    """A change of one layout's layers, as an event told it."""

    layout_id: str
    resource_version: int
    upsert: tuple[SceneLayer, ...] = ()
    """As they are after it; those that it removes, too, as they were."""
    remove: tuple[str, ...] = ()
    parents: Mapping[str, str] = field(default_factory=dict)
    """By layer: the one that it was put into, as the last of its children."""
    animation: ChangeAnimation | None = None


@dataclass
class _Held:
    layout: ProgramLayout
    told: bool
    """By an event, which may not be all that happened to it."""
    version: int
    """The page's count."""


class Scene:
    """The scene as the page is to draw it, with the messages that bring the page there."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.selected_layout_id: str | None = None
        self._canvas = Canvas(width=0, height=0)
        self._wanted = NOTHING
        self._room: PageRoom | None = None
        self._room_known = False
        self._held: dict[str, _Held] = {}
        self._early: deque[LayersEvent] = deque(maxlen=MAX_EARLY)
        self._now = now
        self._version = 0

    def restore(self, layouts: list[ProgramLayout]) -> None:
        """Begins with layouts that were kept, as far as the first programme has them, too."""
        self._held = {each.id: _Held(each, True, self._next()) for each in layouts}

    def kept(self) -> list[ProgramLayout]:
        """What a restarted agent begins with: what the programme does not have."""
        return [held.layout for held in self._held.values() if held.told]

    def state(self) -> SceneState:
        return SceneState(
            canvas=self._canvas,
            selected_layout_id=self.selected_layout_id,
            debug=self._wanted.debug,
            target_latency_ms=self._wanted.target_latency_ms,
            room=self._room,
            room_known=self._room_known,
            layouts=[_for_page(held) for held in self._held.values()],
        )

    def set_room(self, room: PageRoom | None) -> SceneState | None:
        """Takes what the page may join the room with; None if that is as before."""
        if self._room_known and room == self._room:
            return None
        self._room, self._room_known = room, True
        return self.state()

    def is_older_than(self, layout: ProgramLayout) -> bool:
        """Whether the layers here are older than a programme's; a layout that is not here is not."""
        held = self._held.get(layout.id)
        return held is not None and held.layout.resource_version < layout.resource_version

    def take_late(self, layout: ProgramLayout) -> LayersChange | None:
        """Takes a programme's layers that no event told in time; None if one did, or they are the same."""
        held = self._held.get(layout.id)
        if held is None or not self.is_older_than(layout):
            return None
        update = {"layers": layout.layers, "resource_version": layout.resource_version}
        return self._change(held, held.layout.model_copy(update=update), told=False)

    def take(
        self, scene: ProgramScene | None, canvas: Canvas, waiting: Collection[str] = ()
    ) -> SceneState | list[LayersChange]:
        """Makes a programme's scene the wanted one; gives what is to be sent to the page.

        Args:
            waiting: layouts whose layers stay as they are, as events of the newer ones may be on their way.
        """
        wanted = scene or NOTHING
        before = self._frame()
        changes: list[LayersChange] = []
        held: dict[str, _Held] = {}
        for layout in wanted.layouts:
            known = self._held.get(layout.id)
            if known is None:
                held[layout.id] = _Held(layout, False, self._next())
                continue
            held[layout.id] = known
            if layout.id not in waiting and layout.resource_version >= known.layout.resource_version:
                if change := self._change(known, layout, told=False):
                    changes.append(change)
            else:
                known.layout = layout.model_copy(
                    update={
                        "layers": known.layout.layers,
                        "resource_version": known.layout.resource_version,
                    }
                )
        self._wanted, self._held, self._canvas = wanted, held, canvas
        self.selected_layout_id = wanted.selected_layout_id
        return changes if self._frame() == before else self.state()

    def apply(self, event: LayersEvent) -> LayersChange | None:
        """Takes what an event told; None if it is nothing new, or of a layout that is not known yet."""
        held = self._held.get(event.layout_id)
        if held is None:
            self._early.append(event)
            return None
        known = held.layout.resource_version
        if event.resource_version < known or (event.resource_version == known and not held.told):
            return None
        layers = _after(event, held.layout)
        update = {"layers": layers, "resource_version": event.resource_version}
        return self._change(held, held.layout.model_copy(update=update), event.animation, told=True)

    def take_early(self) -> list[LayersChange]:
        """Takes what events reported of layouts before a programme had them, as far as it is newer."""
        early = [each for each in self._early if each.layout_id in self._held]
        self._early = deque((each for each in self._early if each.layout_id not in self._held), MAX_EARLY)
        changes = (self.apply(each) for each in sorted(early, key=lambda each: each.resource_version))
        return [change for change in changes if change]

    def _change(
        self, held: _Held, layout: ProgramLayout, animation: ChangeAnimation | None = None, *, told: bool
    ) -> LayersChange | None:
        """Takes a layout in the place of the one before; gives how its layers differ."""
        before = {layer.id: layer for layer in held.layout.layers}
        after = {layer.id: layer for layer in layout.layers}
        held.layout, held.told = layout, told
        if before == after:
            return None
        held.version = self._next()
        return LayersChange(
            layout_id=layout.id,
            version=held.version,
            upsert=[layer for layer in layout.layers if before.get(layer.id) != layer],
            remove=[each for each in before if each not in after],
            animation=animation,
        )

    def _frame(self) -> object:
        """All that the page knows but layers."""
        layouts = [
            held.layout.model_dump(exclude={"layers", "resource_version"}) for held in self._held.values()
        ]
        wanted = self._wanted
        return (
            self._canvas,
            wanted.selected_layout_id,
            wanted.debug,
            wanted.target_latency_ms,
            sorted(layouts, key=lambda each: str(each["id"])),
        )

    def _next(self) -> int:
        """Grows over restarts of the agent, too: pages outlive it."""
        self._version = max(self._version + 1, int(self._now() * 1000))
        return self._version


def _after(event: LayersEvent, layout: ProgramLayout) -> list[SceneLayer]:
    """A layout's layers after an event, and what follows for others."""
    layers = {layer.id: layer for layer in (*layout.layers, *event.upsert)}
    if layout.type == "SCENE":
        layers = _moved(event, layers)
    below = {each: layer.children for each, layer in layers.items()}
    gone = reached(below, event.remove)
    # What is below those, unless a layer that stays names it
    named = [child for each, children in below.items() if each not in gone for child in children]
    gone -= reached({each: below[each] for each in below.keys() - event.remove}, named)
    return [_without(layer, gone) for each, layer in layers.items() if each not in gone]


def _moved(event: LayersEvent, layers: Mapping[str, SceneLayer]) -> dict[str, SceneLayer]:
    """The layers of a scene, in which each has one parent: with those that an event has put elsewhere."""
    after = dict(layers)
    parents = {child: layer.id for layer in event.upsert for child in layer.children}
    for child, parent in event.parents.items():
        if parent in after and child in after:
            parents[child] = parent
            if child not in (children := after[parent].children):
                after[parent] = after[parent].model_copy(update={"children": [*children, child]})
    return {
        each: _without(layer, {child for child in layer.children if parents.get(child, each) != each})
        for each, layer in after.items()
    }


def _without(layer: SceneLayer, gone: AbstractSet[str]) -> SceneLayer:
    """The layer without the children that are gone, or another's now."""
    children = [each for each in layer.children if each not in gone]
    return layer if children == layer.children else layer.model_copy(update={"children": children})


def _for_page(held: _Held) -> PageLayout:
    layout = held.layout
    return PageLayout(
        id=layout.id,
        type=layout.type,
        width=layout.width,
        height=layout.height,
        transitions=layout.transitions,
        layers=layout.layers,
        version=held.version,
    )
