"""A page of the studio from the PATCH that asks for it to what viewers see and hear of its camera."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.delivery.livekit_server import client_script
from tests.support.ingest.pod_page import URL, page_in_container
from tests.support.media.live_view import LiveView, Pixels
from tests.support.scene import camera
from tests.support.scene.camera import Camera, tone_at_end
from tests.support.scene.on_air import OnAir, square
from tests.support.sdk.public_sdk import script
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

ORANGE, BLUE = (208, 112, 16), (0, 0, 160)
COLOUR, HEARD_S, AWAY_S = 4, 0.7, 40.0
INNER = slice(20, 160), slice(20, 300)
"""Of the page's video, which has the size of its source at the top left."""


def studio_page() -> str:
    """What the public renderer does, with the unmodified SDK and its own end points, in one document."""
    scripts = (client_script(), script("browser", "renderer.js").read_text())
    tags = "".join(f"<script>{each}</script>" for each in scripts)
    return f'<!doctype html><meta charset="utf-8"><body>{tags}'


def test_a_patch_puts_a_page_of_the_studio_on_air_with_a_source_as_its_camera(
    air: OnAir, view: LiveView, tmp_path: Path
) -> None:
    clip = camera.clip(tmp_path / "orange.flv", ORANGE)
    scene = air.scene(ground=square(BLUE))
    air.select(scene)
    _, url = air.source()
    metadata: JsonObject = {"updateMask": "metadata", "metadata": {"layoutId": scene.id}}
    air.client.call("PATCH", air.show.path, metadata)

    def shown(pixels: Pixels) -> bool:
        return clip.off(pixels[INNER]) <= COLOUR

    with page_in_container(air.pod.container("encoder"), studio_page()), Camera(url, clip):
        air.compose({"studioSdk": {"rendererUrl": URL, "version": "3"}})
        view.until("the source by its camera", shown, AWAY_S)
        # The page begins in these moments: sound may break off where a machine is busy
        wait_for(
            lambda: tone_at_end(view.watch(HEARD_S + 0.5), HEARD_S) > clip.level / 2,
            "the source is heard",
            AWAY_S,
        )
        project = air.client.call("GET", air.show.path)["project"]
        assert project["composition"]["studioSdk"]["rendererUrl"] == URL
        air.compose({"scene": {"selectedLayoutId": scene.id}})
        view.until("the scene again", lambda pixels: abs(pixels.astype(int) - BLUE).max() <= COLOUR, AWAY_S)
