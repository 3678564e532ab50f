"""Measures what a scene costs, beside a page of the same elements by itself, in turns in the same pod."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from tests.support.delivery.livekit_server import client_script
from tests.support.ingest.pod_page import URL, page_in_container
from tests.support.media import boxes, probe
from tests.support.media.stream import gray_frames
from tests.support.pages import DEMO, served
from tests.support.program_cpu import programs_cores
from tests.support.rooms.participant import participant
from tests.support.scene.bench_stage import (
    BOXES,
    HEIGHT,
    PLACES,
    WIDTH,
    BenchStage,
    guest_layer,
    pushed,
    source_layer,
)
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import RATE, OnAir

from onair_crds.contract.pod import SOURCES_PATH, SOURCES_PORT
from onair_crds.shapes import JsonObject

SETTLE_S, MEASURE_S = 5.0, 12.0
IDLE_BOUND, TWO_SOURCES_BOUND = 0.1, 1.3
"""Cores: of the compositor's own share, and of the whole pod."""
SHOWN_S, SHOWN_RATE = 3.0, 20
"""Seconds that are looked at, and pictures a second that each source has to have at least."""
MOVES = 20
"""Levels by which some pixel of a camera that moves differs from its mean."""
ROUNDS = 3
NAMES = ("anna", "ben")
GUEST_PLACES = {name: (320 + 320 * at, 240) for at, name in enumerate(NAMES)}


def layers(backdrop: str, *sources: str) -> dict[str, JsonObject]:
    words = {"text": "Good evening", "style": {"fontSize": 48}}
    shown = {f"source-{at}": source_layer(id_, PLACES[at]) for at, id_ in enumerate(sources)}
    image: JsonObject = {"type": "image", "data": {"media": {"url": backdrop}}}
    return {"image": image, **shown, "text": {"type": "text", "x": 40, "y": 40, "data": words}}


def room_script(air: OnAir) -> str:
    """Shows the guests' cameras where the scene does, by LiveKit's own client; a token lets it in unseen."""
    token = air.room_token(air.guest("page"), "page")
    places = json.dumps({name: [left, top] for name, (left, top) in GUEST_PLACES.items()})
    return f"""<script>{client_script()}</script><script>
const places = {places}, room = new LivekitClient.Room({{adaptiveStream: false, dynacast: false}});
room.on('trackSubscribed', (track, publication, participant) => {{
  const place = places[participant.identity], element = track.attach();
  document.body.append(element);
  if (track.kind !== 'video' || !place) return;
  element.style.cssText = `left:${{place[0]}}px;top:${{place[1]}}px;width:320px;height:240px`;
}});
room.connect({json.dumps(air.signal_url)}, {json.dumps(token)});
</script>"""


def bare_page(backdrop: str, *sources: str, room: str = "") -> str:
    """The same elements on a page of their own.

    Args:
        room: scripts that show the guests of a room.
    """
    shown = "".join(
        f"const s{at} = new Source('{id_}', {{delayMs: 500}}); document.body.append(s{at}.video);"
        f"s{at}.video.style.cssText = 'left:{x}px;top:{y}px;width:{WIDTH}px;height:{HEIGHT}px';"
        f"s{at}.audio.connect(s{at}.audioContext.destination);"
        for at, (id_, (x, y)) in enumerate(zip(sources, PLACES, strict=False))
    )
    script = f"import {{Source}} from 'http://127.0.0.1:{SOURCES_PORT}{SOURCES_PATH}/source.js';{shown}"
    return f"""<!doctype html><meta charset="utf-8"><style>body{{margin:0;background:#000;overflow:hidden}}
body>*{{position:absolute}}div{{left:40px;top:40px;font:48px sans-serif;color:#fff}}</style>
<img src="{backdrop}"><div>Good evening</div>
<script type="module">{script if sources else ""}</script>{room}"""


def check_rates(url: str, sources: int, folder: Path) -> None:
    """Each source has its pictures on air: what is measured is there."""
    recording = probe.record(url, SHOWN_S, folder)
    clocks = [boxes.clock_of(recording.path, box) for box in BOXES[:sources]]
    rates = [RATE * len({each.wall_ms for each in clock if each}) / len(clock) for clock in clocks]
    assert min(rates) > SHOWN_RATE, rates


def is_known_as(name: str, told: JsonObject) -> bool:
    return bool(told["identity"] == name)


def check_guests(url: str) -> None:
    """Each guest's camera is on air, and moves."""
    frames = gray_frames(url, SHOWN_S, WIDTH // 2, HEIGHT // 2).astype(float)
    for left, top in GUEST_PLACES.values():
        seen = frames[:, top // 4 : top // 4 + 60, left // 4 : left // 4 + 80]
        assert seen.std(axis=0).max() > MOVES


def measured(air: OnAir) -> Counter[str]:
    with programs_cores(air.pod) as cores:
        time.sleep(MEASURE_S)
    return cores


def in_turns(
    stage: BenchStage, scene: LiveLayout, page: str, check: Callable[[], None], rounds: int
) -> tuple[list[Counter[str]], list[Counter[str]]]:
    """Cores of the pod's programs with the scene, and with the page, each several times.

    Args:
        check: that what is measured is on air.
    """
    ways = ({"scene": {"selectedLayoutId": scene.id}}, {"external": {"url": URL}})
    found: tuple[list[Counter[str]], list[Counter[str]]] = ([], [])
    with page_in_container(stage.air.pod.container("encoder"), page):
        for _ in range(rounds):
            for composition, cores in zip(ways, found, strict=True):
                stage.air.compose(composition)
                time.sleep(SETTLE_S)
                check()
                cores.append(measured(stage.air))
    return found


def totals(cores: list[Counter[str]]) -> list[float]:
    return [sum(each.values()) for each in cores]


def told(report: Callable[..., float], name: str, cores: list[Counter[str]]) -> None:
    """Records the cores of each program that takes a hundredth of one."""
    for program in sorted({program for each in cores for program in each}):
        samples = [each[program] for each in cores]
        if max(samples) >= 0.01:
            report(f"{name}: {program}", samples, "core")


def test_an_idle_scene_costs_little(stage: BenchStage, report: Callable[..., float]) -> None:
    with served(DEMO) as pages:
        backdrop = f"{pages}/stage.svg"
        scene = stage.air.scene(**layers(backdrop))
        drawn, bare = in_turns(stage, scene, bare_page(backdrop), lambda: None, ROUNDS)
    report("CPU of the pod with an idle scene, 1280×720@30", totals(drawn), "core")
    report("CPU of the pod with a bare page of the same elements", totals(bare), "core")
    told(report, "an idle scene", drawn)
    share = [one - other for one, other in zip(totals(drawn), totals(bare), strict=True)]
    own = report("CPU of the compositor's own, idle", share, "core", IDLE_BOUND)
    assert own < IDLE_BOUND * 2


def with_sources(
    number: int, stage: BenchStage, clip: Path, report: Callable[..., float], folder: Path, rounds: int
) -> float:
    """Records and returns the cores of the pod with a scene of sources."""
    sources = [stage.air.source() for _ in range(number)]
    ids, urls = [id_ for id_, _ in sources], [url for _, url in sources]
    with served(DEMO) as pages, pushed(clip, *urls):
        backdrop = f"{pages}/stage.svg"
        scene = stage.air.scene(**layers(backdrop, *ids))

        def check() -> None:
            check_rates(stage.url, number, folder)

        drawn, bare = in_turns(stage, scene, bare_page(backdrop, *ids), check, rounds)
    report(f"CPU of the pod with a bare page of {number} 720p30 sources", totals(bare), "core")
    told(report, f"a bare page of {number} sources", bare)
    told(report, f"a scene of {number} sources", drawn)
    bound = TWO_SOURCES_BOUND if number == 2 else None
    return report(f"CPU of the pod with a scene of {number} 720p30 sources", totals(drawn), "core", bound)


def test_a_scene_of_two_sources(
    stage: BenchStage, clip: Path, report: Callable[..., float], tmp_path: Path
) -> None:
    assert with_sources(2, stage, clip, report, tmp_path, 2) < TWO_SOURCES_BOUND * 2


def test_a_scene_of_four_sources(
    stage: BenchStage, clip: Path, report: Callable[..., float], tmp_path: Path
) -> None:
    with_sources(4, stage, clip, report, tmp_path, 1)


async def test_a_scene_of_four_sources_and_two_guests(
    stage: BenchStage, clip: Path, report: Callable[..., float]
) -> None:
    air = stage.air
    sources = [await asyncio.to_thread(air.source) for _ in range(len(PLACES))]
    guests = {name: guest_layer(name, *place) for name, place in GUEST_PLACES.items()}
    async with AsyncExitStack() as stack:
        pages = stack.enter_context(served(DEMO))
        stack.enter_context(pushed(clip, *(url for _, url in sources)))
        shown = layers(f"{pages}/stage.svg", *(id_ for id_, _ in sources))
        scene = await asyncio.to_thread(air.scene, **shown, **guests)
        for name in NAMES:
            token = air.room_token(air.guest(name), name)
            joined = await stack.enter_async_context(participant(air.signal_url, token, insist=True))
            await joined.until("in the room", partial(is_known_as, name), 40)
        ids = [id_ for id_, _ in sources]
        page = bare_page(f"{pages}/stage.svg", *ids, room=await asyncio.to_thread(room_script, air))

        def check() -> None:
            check_guests(stage.url)

        drawn, bare = await asyncio.to_thread(in_turns, stage, scene, page, check, 2)
        failed = air.status().get("conditions", [])
    assert not [each for each in failed if each["type"] == "LayerFailed" and each["status"] == "True"]
    told(report, "a scene of 4 sources and 2 guests", drawn)
    told(report, "a bare page of 4 sources and 2 guests", bare)
    report("CPU of the pod with a scene of 4 720p30 sources and 2 guests", totals(drawn), "core")
    report("CPU of the pod with a bare page of 4 720p30 sources and 2 guests", totals(bare), "core")
