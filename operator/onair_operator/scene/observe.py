"""Gathers a project's layouts, as a programme carries them."""

from __future__ import annotations

import structlog
from pydantic import ValidationError

from onair_crds.contract.scene import MAX_LAYOUTS, MAX_LAYOUTS_BYTES, ProgramLayout, program_layout
from onair_crds.kube.store import Entry, Store
from onair_crds.resources.enums import LayoutType
from onair_crds.resources.project import Project
from onair_operator.cluster.layout_content import SIZE, content
from onair_operator.cluster.watched_kinds import BY_PROJECT, LAYOUT
from onair_operator.scene.observed import ObservedScene, is_scene, selected
from onair_operator.specs.broken_rules import broken_rules

log = structlog.get_logger()


def observe(store: Store, project: Project) -> ObservedScene:
    """The project's scenes; layouts themselves only while a run needs them."""
    composition, broadcast = project.spec.composition, project.status.broadcast
    if not is_scene(composition):
        return ObservedScene()
    entries = [each for each in store.select(LAYOUT, BY_PROJECT, project.name) if not each.deleting]
    scenes = [each for each in entries if _is_scene(each)]
    newest = max(scenes, key=lambda each: each.created).name if scenes else None
    layouts: tuple[ProgramLayout, ...] = ()
    broken: str | None = None
    if broadcast and broadcast.phase.active:
        chosen = selected(composition, broadcast.layout)
        layouts = carried(entries, chosen, project)
        made = [_made(each, project) for each in entries if each.name == chosen]
        broken = next((each for each in made if isinstance(each, str)), None)
    return ObservedScene(layouts, newest, frozenset(each.name for each in entries), broken)


def carried(entries: list[Entry], chosen: str | None, project: Project) -> tuple[ProgramLayout, ...]:
    """The selected layout, and of the others, scenes and newest first, as many as there is room for.

    A switch to one that is omitted works nevertheless: it is the selected one of the next programme.
    """
    ranked = sorted(entries, key=lambda each: (_is_scene(each), each.created), reverse=True)
    first = [each for each in ranked if each.name == chosen]
    rest = [each for each in ranked if each.name != chosen]
    found = [layout for each in first if (layout := _layout(each, project))]
    left = MAX_LAYOUTS_BYTES
    for each in rest:
        if len(found) == MAX_LAYOUTS:
            break
        size = each.spec[SIZE]
        if size <= left and (layout := _layout(each, project)):
            found.append(layout)
            left -= size
    return tuple(found)


def _is_scene(entry: Entry) -> bool:
    return entry.spec.get("type") == LayoutType.SCENE.value


def _layout(entry: Entry, project: Project) -> ProgramLayout | None:
    """None for one that breaks a rule, so that the show continues without it."""
    made = _made(entry, project)
    return made if isinstance(made, ProgramLayout) else None


def _made(entry: Entry, project: Project) -> ProgramLayout | str:
    """The layout as a programme carries it, or which rules it breaks."""
    video = project.spec.rendering.video
    key = (video.width, video.height)
    if key not in entry.records:
        try:
            entry.records[key] = program_layout(
                entry.name, entry.version, content(entry), video.width, video.height
            )
        except (ValueError, TypeError, KeyError) as error:
            log.warning("layout.invalid", layout=entry.name, error=type(error).__name__)
            entry.records[key] = (
                broken_rules(error) if isinstance(error, ValidationError) else "it is not a valid layout"
            )
    made: ProgramLayout | str = entry.records[key]
    return made
