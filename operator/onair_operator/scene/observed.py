"""What is known of a project's scenes: the input of their plans."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.scene import ProgramLayout
from onair_crds.resources.composition import Composition
from onair_operator.settings import OperatorSettings


@dataclass(frozen=True)
class ObservedScene:
    layouts: tuple[ProgramLayout, ...] = ()
    """Those that a programme carries, the selected one first; none while there is no run."""
    newest: str | None = None
    """The newest layout of type Scene."""
    names: frozenset[str] = frozenset()
    """All of the project's layouts."""
    broken: str | None = None
    """Which rules the layout to be drawn breaks, so that it cannot be drawn; only during a run."""


def is_scene(composition: Composition | None) -> bool:
    """Whether the project's layouts are drawn, by the built-in page or by another one."""
    return composition is None or composition.scene is not None


def page_url(composition: Composition | None, settings: OperatorSettings) -> str:
    """The page that produces the video."""
    if composition is None:
        return settings.renderer_url
    return composition.url(settings.renderer_url, settings.renderer_base_url)


def selected(composition: Composition | None, default: str | None) -> str | None:
    """The layout that is to be drawn.

    Args:
        default: the run's, for a project that selects none.
    """
    chosen = composition.scene.selected_layout_id if composition and composition.scene else None
    return chosen or default
