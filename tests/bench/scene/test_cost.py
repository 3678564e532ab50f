"""Measures what a scene costs, beside a page of the same elements by itself, in turns in the same pod."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.cluster import PAGES, LocalCluster
from tests.support.ingest.clip import Encoding, make_clip
from tests.support.ingest.pod_page import URL, page_in_pod
from tests.support.media import boxes, probe
from tests.support.media.boxes import Box
from tests.support.pod_cpu import cores_of
from tests.support.receiver import RTMP
from tests.support.scene.live_scene import LiveScene, SceneOnAir, pushed

from onair_crds.contract.pod import SOURCES_PATH, SOURCES_PORT
from onair_crds.shapes import JsonObject

CLIP_S = 120.0
SETTLE_S, MEASURE_S, ROUNDS = 5.0, 12.0, 3
IDLE_BOUND, TWO_SOURCES_BOUND = 0.1, 1.3
"""Cores: of the compositor's own share, and of the whole pod."""
BACKDROP = f"{PAGES}/stage.svg"
BOXES = ((0, 0), (640, 0), (0, 360), (640, 360))
WIDTH, HEIGHT = 640, 360
SHOWN_S, SHOWN_RATE = 3.0, 20
"""Seconds that are looked at, and pictures a second that each source has to have at least."""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mkv", CLIP_S, Encoding())


def layers(*sources: str) -> list[JsonObject]:
    words = {"text": "Good evening", "style": {"fontSize": 48}}
    shown: list[JsonObject] = [
        {"type": "source", "x": x, "y": y, "width": WIDTH, "height": HEIGHT, "data": {"source": {"id": id_}}}
        for id_, (x, y) in zip(sources, BOXES, strict=False)
    ]
    backdrop: JsonObject = {"type": "image", "data": {"media": {"url": BACKDROP}}}
    return [backdrop, *shown, {"type": "text", "x": 40, "y": 40, "data": words}]


def bare_page(*sources: str) -> str:
    """The same elements on a page of their own."""
    shown = "".join(
        f"const s{number} = new Source('{id_}', {{delayMs: 500}}); document.body.append(s{number}.video);"
        f"s{number}.video.style.cssText = 'left:{x}px;top:{y}px;width:{WIDTH}px;height:{HEIGHT}px';"
        f"s{number}.audio.connect(s{number}.audioContext.destination);"
        for number, (id_, (x, y)) in enumerate(zip(sources, BOXES, strict=False))
    )
    return f"""<!doctype html><meta charset="utf-8"><style>body{{margin:0;background:#000;overflow:hidden}}
body>*{{position:absolute}}div{{left:40px;top:40px;font:48px sans-serif;color:#fff}}</style>
<img src="{BACKDROP}"><div>Good evening</div><script type="module">
import {{Source}} from 'http://127.0.0.1:{SOURCES_PORT}{SOURCES_PATH}/source.js';
{shown}</script>"""


def rates_on_air(url: str, sources: int, folder: Path) -> list[float]:
    """Pictures of each source a second, of those that are received."""
    recording = probe.record(url, SHOWN_S, folder)
    clocks = (boxes.clock_of(recording.path, Box(x, y, WIDTH)) for x, y in BOXES[:sources])
    return [len({each.wall_ms for each in clock if each}) / SHOWN_S for clock in clocks]


def in_turns(
    scene: LiveScene,
    cluster: LocalCluster,
    selected: str,
    page: str,
    rounds: int = ROUNDS,
    look: Callable[[], None] = lambda: None,
) -> tuple[list[float], list[float]]:
    """Cores of the pod with the scene, and with the page, each several times.

    Args:
        look: asserts that what is measured is on air.
    """
    pod = cluster.get("pod", cluster.encoder_pod(scene.show.project))
    name, where = pod["metadata"]["name"], (pod["spec"]["nodeName"], pod["metadata"]["uid"])
    ways = ({"scene": {"selectedLayoutId": selected}}, {"external": {"url": URL}})
    cores: tuple[list[float], list[float]] = ([], [])
    with page_in_pod(cluster, name, page):
        for _ in range(rounds):
            for composition, found in zip(ways, cores, strict=True):
                body = {"updateMask": "composition", "composition": composition}
                scene.show.facade.call("PATCH", scene.show.path, body)
                time.sleep(SETTLE_S)
                look()
                found.extend(cores_of(where, for_s=MEASURE_S))
    return cores


def test_an_idle_scene_costs_little(
    scene: LiveScene, put_on_air: SceneOnAir, cluster: LocalCluster, report: Callable[..., float]
) -> None:
    layout = scene.layout(*layers())
    put_on_air(scene, layout)
    drawn, bare = in_turns(scene, cluster, layout.id, bare_page())
    report("CPU of the pod with an idle scene, 1280×720@30", drawn, "core")
    report("CPU of the pod with a bare page of the same elements", bare, "core")
    share = [one - other for one, other in zip(drawn, bare, strict=True)]
    own = report("CPU of the compositor's own, idle", share, "core", IDLE_BOUND)
    assert own < IDLE_BOUND * 2


def test_a_scene_of_two_sources(
    scene: LiveScene,
    put_on_air: SceneOnAir,
    cluster: LocalCluster,
    path: str,
    clip: Path,
    tmp_path: Path,
    report: Callable[..., float],
) -> None:
    def look() -> None:
        rates = rates_on_air(f"{RTMP}/{path}", len(ids), tmp_path)
        assert min(rates) > SHOWN_RATE, rates

    sources = [scene.source() for _ in range(2)]
    ids = [each["sourceId"] for each in sources]
    layout = scene.layout(*layers(*ids))
    with pushed(clip, *sources):
        put_on_air(scene, layout)
        drawn, bare = in_turns(scene, cluster, layout.id, bare_page(*ids), 2, look)
    report("CPU of the pod with a bare page of two 720p30 sources", bare, "core")
    cores = report("CPU of the pod with a scene of two 720p30 sources", drawn, "core", TWO_SOURCES_BOUND)
    assert cores < TWO_SOURCES_BOUND * 2


def test_a_scene_of_four_sources(
    scene: LiveScene,
    put_on_air: SceneOnAir,
    cluster: LocalCluster,
    path: str,
    clip: Path,
    tmp_path: Path,
    report: Callable[..., float],
) -> None:
    def look() -> None:
        rates = rates_on_air(f"{RTMP}/{path}", len(ids), tmp_path)
        assert min(rates) > SHOWN_RATE, rates

    sources = [scene.source() for _ in range(4)]
    ids = [each["sourceId"] for each in sources]
    layout = scene.layout(*layers(*ids))
    with pushed(clip, *sources):
        put_on_air(scene, layout)
        drawn, bare = in_turns(scene, cluster, layout.id, bare_page(*ids), 1, look)
    report("CPU of the pod with a bare page of four 720p30 sources", bare, "core")
    report("CPU of the pod with a scene of four 720p30 sources", drawn, "core")
