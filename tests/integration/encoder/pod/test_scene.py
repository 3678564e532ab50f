"""A pod's own page draws the scene of its programme, by itself, whatever restarts in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.stream import gray_frames
from tests.support.pod_pair import PodPair, programme
from tests.support.scenes import ROOT, layer, layout, scene
from tests.support.ten_line_page import PAGE

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ProgramLayout

pytestmark = pytest.mark.media

WHITE, GRAY = "#fff", "#808080"


@pytest.fixture
def scene_pair(tmp_path: Path) -> Iterator[PodPair]:
    compositor = tmp_path / "compositor"
    compositor.mkdir()
    (compositor / "index.html").write_text(PAGE)
    with PodPair(tmp_path, compositor=compositor) as pair:
        pair.wait_agent()
        yield pair


def coloured(version: int, colour: str, id: str = "stage", **data: Any) -> ProgramLayout:
    return layout(version, ROOT, layer("left", data={"backgroundColor": colour, **data}), id=id)


def shown(far_end: RtmpContainer, *layouts: ProgramLayout, selected: str = "stage", **extra: Any) -> Program:
    wanted = scene(*layouts, selected_layout_id=selected)
    return programme(COMPOSITOR_URL, far_end, "scene", scene=wanted, **extra)


def brightness(far_end: RtmpContainer) -> float:
    return float(np.asarray(gray_frames(far_end.read_url("scene"), 0.5)[-1]).mean())


def is_white(far_end: RtmpContainer) -> bool:
    return brightness(far_end) > 240


def is_gray(far_end: RtmpContainer) -> bool:
    return 110 < brightness(far_end) < 145


def loads(pair: PodPair) -> int:
    return pair.logs("browser").count("page.loaded")


def test_the_page_is_on_air_once_it_is_ready_and_follows_its_programme_without_a_reload(
    scene_pair: PodPair, far_end: RtmpContainer
) -> None:
    slow = shown(far_end, coloured(1, WHITE, slow=True), page_timeout_ms=60_000)
    scene_pair.put(slow).raise_for_status()
    scene_pair.wait_for(lambda: scene_pair.logged("scene.page-connected"), "connected")
    assert scene_pair.status().phase == "starting"
    scene_pair.put(shown(far_end, coloured(2, WHITE), coloured(3, GRAY, id="other"))).raise_for_status()
    scene_pair.wait_phase("running")
    scene_pair.wait_connected("scene")
    # This page says what it has been told, ready or failed, and is painted after that
    scene_pair.wait_for(lambda: is_white(far_end), "white")
    scene_pair.put(shown(far_end, coloured(4, GRAY, missing=True))).raise_for_status()
    scene_pair.wait_for(lambda: scene_pair.status().failed_layers, "a failure")
    [failed] = scene_pair.status().failed_layers
    assert (failed.layout, failed.layer, failed.on_air) == ("stage", "left", True)
    assert failed.reason == "http://a.example/x HTTP 404"
    scene_pair.wait_for(lambda: is_gray(far_end), "gray")
    scene_pair.put(
        shown(far_end, coloured(4, GRAY, missing=True), coloured(5, WHITE, id="other"), selected="other")
    )
    scene_pair.wait_for(lambda: not scene_pair.status().failed_layers, "nothing fails")
    scene_pair.wait_for(lambda: is_white(far_end), "white, the other layout")
    assert loads(scene_pair) == 1


def test_a_scene_outlives_its_browser_and_its_agent_without_anybody(
    scene_pair: PodPair, far_end: RtmpContainer
) -> None:
    scene_pair.put(shown(far_end, coloured(1, WHITE))).raise_for_status()
    scene_pair.wait_phase("running")
    scene_pair.kill("browser", "/chromium")
    scene_pair.wait_for(lambda: scene_pair.logged("scene.page-ready") == 2, "ready again")
    scene_pair.wait_connected("scene")
    # A page may be ready before it is painted, and its window is on the screen after that
    scene_pair.wait_for(lambda: is_white(far_end), "white again")
    scene_pair.kill("encoder", "onair_encoder agent")
    scene_pair.wait_for(lambda: scene_pair.logged("scene.page-ready") == 3, "ready again")
    scene_pair.wait_phase("running")
    scene_pair.wait_connected("scene")
    assert is_white(far_end)
    assert scene_pair.metrics()["onair_encoder_slates_total"] == 0, "counted by the new agent"


def test_the_built_in_page_draws_what_its_agent_tells_it(pair: PodPair, far_end: RtmpContainer) -> None:
    """The compositor of the image: a square of the whole canvas, in the colours of two versions."""
    pair.put(shown(far_end, coloured(1, WHITE))).raise_for_status()
    pair.wait_phase("running")
    pair.wait_connected("scene")
    assert not pair.status().on_slate
    assert is_white(far_end)
    gray = coloured(2, GRAY)
    lost = layer("lost", type="image", data={"media": {"url": "http://127.0.0.1:8450/compositor/none.png"}})
    root = ROOT.model_copy(update={"children": ["left", "lost"]})
    pair.put(shown(far_end, gray.model_copy(update={"layers": [root, gray.layers[1], lost]})))
    pair.wait_for(lambda: pair.status().failed_layers, "a failure")
    [failed] = pair.status().failed_layers
    assert (failed.layout, failed.layer, failed.on_air) == ("stage", "lost", True)
    assert pair.metrics()["onair_encoder_failed_layers"] == 1
    pair.wait_for(lambda: is_gray(far_end), "the rest of the picture")
    pair.put(shown(far_end, coloured(3, WHITE)))
    pair.wait_for(lambda: not pair.status().failed_layers, "nothing fails")
    assert pair.metrics()["onair_encoder_failed_layers"] == 0
    pair.wait_for(lambda: is_white(far_end), "white again")
    assert loads(pair) == 1
