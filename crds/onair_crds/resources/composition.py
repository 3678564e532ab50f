"""Composition: how a project's video is produced; one of three keys, none means `scene: {}`."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from pydantic import Field

from onair_crds.resources.base import MAX_ID, Rule, SpecModel
from onair_crds.resources.values import HttpUrl

LATEST = "latest"


class StudioSdkComposition(SpecModel):
    """A page of the studio draws the programme."""

    version: Annotated[str, Field(max_length=64)] | None = None
    """Renderer version; ignored where rendererUrl is set. Absent means latest."""
    renderer_url: HttpUrl | None = None
    """Page to render with; takes priority over version."""


class SceneComposition(SpecModel):
    """The scene compositor draws the project's layouts."""

    renderer_url: HttpUrl | None = None
    """Page to render with instead of the scene compositor."""
    selected_layout_id: Annotated[str, Field(max_length=MAX_ID)] | None = None
    """The active scene."""
    debug: bool | None = None
    """Draw the outlines and ids of layers."""


class ExternalComposition(SpecModel):
    """A page of one's own draws the programme."""

    url: HttpUrl
    """Page that paints the whole canvas."""


class Composition(SpecModel):
    """How the video is produced; exactly one key."""

    one_of = ("studioSdk", "scene", "external")
    rules = [
        Rule(
            rule="[has(self.studioSdk), has(self.scene), has(self.external)].exists_one(x, x)",
            message="exactly one of studioSdk, scene, external must be given",
        )
    ]

    studio_sdk: StudioSdkComposition | None = None
    """Rendered by a page of the studio SDK."""
    scene: SceneComposition | None = None
    """Rendered by the scene compositor from the project's layouts."""
    external: ExternalComposition | None = None
    """Rendered by a page of the caller's."""

    def url(self, renderer_url: str, studio_base_url: str) -> str:
        """The page to load.

        Args:
            renderer_url: of scenes that name none.
            studio_base_url: where versions of the studio's page are; empty: that of scenes is in its place.
        """
        if self.external:
            return self.external.url
        if self.studio_sdk and not self.studio_sdk.renderer_url and studio_base_url:
            return studio_renderer_url(studio_base_url, self.studio_sdk.version)
        member = self.studio_sdk or self.scene
        return (member.renderer_url if member else None) or renderer_url


def studio_renderer_url(base_url: str, version: str | None) -> str:
    """The studio's page of a version."""
    return f"{base_url.rstrip('/')}/{quote(version or LATEST, safe='')}/"
