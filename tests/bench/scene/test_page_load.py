"""Measures how long the compositor page takes from navigation until it is ready."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import own_image
from tests.support.pages import site
from tests.support.pod_pair import PodPair, programme
from tests.support.scene.browser import browser, tab
from tests.support.scene.fake_agent import HEIGHT, WIDTH, FakeAgent, layer, scene, square, state
from tests.support.scene.media import png, serves
from tests.support.scenes import ROOT, layout
from tests.support.scenes import layer as scene_layer
from tests.support.scenes import scene as program_scene

from onair_crds.contract.pod import COMPOSITOR_URL

LOADS = 10
READY_BOUND_S = 0.4


async def test_the_page_is_ready_soon(report: Callable[..., float]) -> None:
    """The first load is of an empty cache, the others have image and scripts."""
    picture = serves(png(WIDTH, HEIGHT, (200, 120, 40)), "image/png")
    agent = FakeAgent({}, {"/picture.png": picture})
    image = layer("image", "image", data={"media": {"url": f"{agent.url}/picture.png"}})
    words = layer("words", "text", data={"text": "Good evening"}, x=20, y=20)
    agent.state = state(scene(image, square("square", "#f00", width=40, height=40), words))
    delays = []
    with browser() as address:
        async with agent.serving(), tab(address, "about:blank", WIDTH, HEIGHT) as page:
            for _ in range(LOADS + 1):
                await page.call("Page.navigate", url="about:blank")
                agent.said.clear()
                began = time.monotonic()
                await page.call("Page.navigate", url=f"{agent.url}/compositor/?at=token")
                await agent.ready()
                delays.append(time.monotonic() - began)
    report("navigation → compositor page ready, nothing cached", delays[:1], "s")
    ready = report("navigation → compositor page ready, cached", delays[1:], "s", READY_BOUND_S)
    assert ready < READY_BOUND_S * 2


def moments(pair: PodPair, container: str, event: str) -> list[float]:
    """When a container of a pod has logged an event."""
    lines = [json.loads(line) for line in pair.logs(container).splitlines() if f'"{event}"' in line]
    return [dt.datetime.fromisoformat(line["timestamp"]).timestamp() for line in lines]


def test_the_page_is_ready_soon_in_a_pod(tmp_path: Path, report: Callable[..., float]) -> None:
    """As it is on air: captured, encoded, in its sandbox, at the encoder's side of the pod."""
    files = {
        "/picture.png": ("image/png", png(640, 360, (200, 120, 40))),
        "/other": ("text/html", b"<body style='background: #444'>"),
    }
    with RtmpContainer(own_image("mediamtx")) as far_end, PodPair(tmp_path) as pair, site(files) as address:
        pair.wait_agent()
        data = {"media": {"url": f"{address}/picture.png"}}
        words = scene_layer("words", type="text", data={"text": "Good evening"})
        root = ROOT.model_copy(update={"children": ["image", "words"]})
        stage = layout(1, root, scene_layer("image", type="image", data=data), words, id="stage")
        drawn = program_scene(stage, selected_layout_id="stage")
        delays = []

        def has_loaded(times: int) -> bool:
            return len(moments(pair, "browser", "page.loaded")) == times

        def has_been_ready(times: int) -> bool:
            return pair.logged("scene.page-ready") == times

        for number in range(1, LOADS + 2):
            pair.put(programme(f"{address}/other", far_end, "scene")).raise_for_status()
            pair.wait_for(partial(has_loaded, 2 * number - 1), "other")
            pair.put(programme(COMPOSITOR_URL, far_end, "scene", scene=drawn)).raise_for_status()
            pair.wait_for(partial(has_been_ready, number), "ready")
            began = moments(pair, "browser", "page.loading")[-1]
            delays.append(moments(pair, "encoder", "scene.page-ready")[-1] - began)
    report("navigation → compositor page ready in a pod, nothing cached", delays[:1], "s")
    ready = report("navigation → compositor page ready in a pod, cached", delays[1:], "s", READY_BOUND_S)
    assert ready < READY_BOUND_S * 2
