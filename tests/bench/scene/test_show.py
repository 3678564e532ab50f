"""Measures a show: two sources, two guests, an image, text and a web page, switched between three layouts."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.support.media import boxes, painted, probe
from tests.support.media.boxes import Box
from tests.support.pages import DEMO, site
from tests.support.pod_pair import metrics_at
from tests.support.program_cpu import programs_cores, programs_major_faults
from tests.support.rooms.recorded_camera import make_recording, recorded_camera
from tests.support.scene import media
from tests.support.scene.bench_stage import (
    BOXES,
    PLACES,
    WIDTH,
    BenchStage,
    guest_layer,
    pushed,
    source_layer,
)
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import RATE, OnAir

from onair_crds.shapes import JsonObject

EMPTY_S, COME_S, STAY_S, SETTLE_S = 20.0, 5.0, 7.0, 1.5
"""Seconds of the empty page; until all sources have come, each with its next key frame; between switches;
after a switch in which sources' clocks alone are read."""
BEGIN_S = 5.0
ROUNDS = 2
MISSED_BOUND, AV_BOUND_MS = 0.5, 40.0
"""Percent of frames beyond those of the empty page; audio minus video of each source."""
TICKER = Path(__file__).parents[2] / "support/scene/ticker.html"
TICKER_BOX = Box(0, 360, WIDTH)
NAMES = ("anna", "ben")
GUESTS_Y = 400
GUEST_BOXES = [Box(WIDTH + 320 * at, GUESTS_Y, 320) for at in range(len(NAMES))]
CAMERA = 640, 480, 20
"""Width, height and frame rate of a guest's camera: what browsers give where nobody asks for more."""
SWIPE_S = 0.8
WAYS: list[JsonObject] = [
    {"crossfade": {"durationMs": 800}},
    {"swipe": {"durationMs": round(SWIPE_S * 1000), "direction": "TRANSITION_DIRECTION_DOWN"}},
]
CUT_OFF = 0.2
"""Part of a swipe in which an edge of the picture cuts a clock off, at most; it goes down from the top."""
Clock = list[painted.Painted | None]


class BenchLayouts(NamedTuple):
    shown: list[LiveLayout]
    empty: LiveLayout


class ShowWindow(NamedTuple):
    """Frames between two switches, without the transition; and which source is heard in it."""

    frames: slice
    heard: int


class Performance(NamedTuple):
    recording: Path
    switches: list[tuple[float, int]]
    """`time.time()` of each, and which source is heard from then on; the last one ends the show."""
    empty: tuple[float, float]
    """From when until when there was the empty page alone."""


def build(air: OnAir, sources: list[str], files_at: str) -> BenchLayouts:
    """Three layouts of the same elements in the same places; another source is heard in the second."""
    box = {"x": TICKER_BOX.x, "y": TICKER_BOX.y, "width": WIDTH, "height": 60}
    ticker: JsonObject = {
        "type": "webpage",
        **box,
        "data": {"url": f"{files_at}/ticker", "mode": "keep-loaded"},
    }
    backdrop: JsonObject = {"type": "image", "data": {"media": {"url": f"{files_at}/stage.svg"}}}
    sting = {"cut": {"cutPointMs": 500, "media": {"url": f"{files_at}/stinger.webm", "volume": 0}}}
    layouts = []
    for number, way in enumerate([{"stinger": sting}, *WAYS]):
        shown = {
            f"source-{at}": source_layer(id_, PLACES[at], float(at == number % 2))
            for at, id_ in enumerate(sources)
        }
        guests = {name: guest_layer(name, box.x, box.y) for name, box in zip(NAMES, GUEST_BOXES, strict=True)}
        words = {"text": "Good evening", "style": {"fontSize": 40}}
        text: JsonObject = {"type": "text", "x": 40, "y": 500 + 40 * number, "data": words}
        layouts.append(air.scene(way, backdrop=backdrop, **shown, **guests, text=text, ticker=ticker))
    return BenchLayouts(layouts, air.scene(ticker=ticker))


def windows(clock: Clock, switches: list[tuple[float, int]]) -> list[ShowWindow]:
    """
    Args:
        clock: what the ticker shows on each frame.
    """
    found = []
    for (begin_s, heard), (end_s, _) in pairwise(switches):
        within = [
            number
            for number, each in enumerate(clock)
            if each and (begin_s + SETTLE_S) * 1000 < each.wall_ms < end_s * 1000 - 200
        ]
        assert within, "the page's clock is not seen between two switches"
        found.append(ShowWindow(slice(within[0], within[-1] + 1), heard))
    return found


def missed_percent(clock: Clock, chosen: list[slice]) -> float:
    """Percent of the frames of these windows that bring nothing new."""
    of = sum(each.stop - each.start for each in chosen)
    missed = sum(
        painted.missing_percent(clock[each], each.stop - each.start) * (each.stop - each.start)
        for each in chosen
    )
    return float(missed / of)


def through_switches(recording: Path, box: Box, clock: Clock, shown: list[ShowWindow]) -> tuple[float, float]:
    """Percent of a source's frames that bring nothing new once all is there, transitions and all.

    Both layouts of a crossfade show it in one place, and the stinger leaves its clock free. In a swipe it is
    looked for along its way; for a part of that an edge of the picture cuts it off: this does not count.

    Returns:
        that, and of which part of the swipes it is so.
    """
    settle = round(SETTLE_S * RATE)
    swipes = [slice(each.frames.start - settle, each.frames.start) for each in shown[1 :: len(WAYS) + 1]]
    followed = list(clock)
    for swipe in swipes:
        followed[swipe] = boxes.moving_clock_of(recording, box, swipe, followed)
    unread = sum(followed[swipe].count(None) for swipe in swipes)
    whole = followed[shown[0].frames.start : shown[-1].frames.stop]
    # Ticks begin anew within 68 s; the clip's times do not
    nominal, new = len(whole) - unread, len({each.wall_ms for each in whole if each})
    return 100 * (nominal - new) / nominal, unread / len(swipes) / (SWIPE_S * RATE)


def skipped_percent(clock: Clock, shown: list[ShowWindow]) -> float:
    """Percent of a guest's frames that are never seen, in all windows."""
    return statistics.mean(painted.skipped_percent(clock[each.frames]) for each in shown)


def offsets_ms(recording: Path, clocks: list[Clock], shown: list[ShowWindow]) -> list[list[float]]:
    """Audio minus video of each source, in each window in which it is heard."""
    times_s, clicks_s = boxes.frame_times_s(recording), boxes.click_times_s(recording)
    found: list[list[float]] = [[] for _ in clocks]
    for window in shown:
        begin_s, end_s = times_s[window.frames.start], times_s[window.frames.stop - 1]
        heard = [at for at in clicks_s if begin_s < at < end_s]
        offset = painted.av_distance_ms(heard, times_s[window.frames], clocks[window.heard][window.frames])
        if offset is not None:
            found[window.heard].append(offset)
    return found


def perform(stage: BenchStage, layouts: BenchLayouts, folder: Path) -> Performance:
    """Records the show."""
    whole_s = EMPTY_S + COME_S + STAY_S * len(layouts.shown) * ROUNDS + BEGIN_S
    recordings: list[probe.RecordedFile] = []
    recorder = threading.Thread(target=lambda: recordings.append(probe.record(stage.url, whole_s, folder)))
    recorder.start()
    began_s = time.time()
    time.sleep(EMPTY_S)
    empty, switches = (began_s, time.time()), []
    stage.air.select(layouts.shown[0])
    time.sleep(COME_S)
    for _ in range(ROUNDS):
        for number in (1, 2, 0):
            stage.air.select(layouts.shown[number])
            switches.append((time.time(), number % 2))
            time.sleep(STAY_S)
    switches.append((time.time(), 0))
    recorder.join()
    return Performance(recordings[0].path, switches, empty)


def report_media(report: Callable[..., float], performance: Performance) -> tuple[float, float]:
    """Records frames and A/V offsets; returns percent beyond the empty page, and the largest offset in ms."""
    recording = performance.recording
    ticker, *clocks = (boxes.clock_of(recording, box) for box in (TICKER_BOX, *BOXES[:2]))
    (empty,) = windows(ticker, [(at, 0) for at in performance.empty])
    shown = windows(ticker, performance.switches)
    empty_missed = missed_percent(ticker, [empty.frames])
    show_missed = missed_percent(ticker, [each.frames for each in shown])
    report("show: frames missed or doubled, empty page", [empty_missed], "%")
    report("show: frames missed or doubled", [show_missed], "%")
    for number, clock in enumerate(clocks):
        drawn = missed_percent(clock, [each.frames for each in shown])
        name = f"show: frames of source {number + 1} missed beyond the empty page"
        report(name, [drawn - empty_missed], "%", MISSED_BOUND)
        missed, cut_off = through_switches(recording, BOXES[number], clock, shown)
        report(f"{name}, switches and all", [missed - empty_missed], "%", MISSED_BOUND)
        assert cut_off < CUT_OFF
    for name, box in zip(NAMES, GUEST_BOXES, strict=True):
        clock = boxes.clock_of(recording, box)
        report(f"show: frames of {name}'s camera not seen", [skipped_percent(clock, shown)], "%")
    beyond = report(
        "show: frames missed beyond the empty page", [show_missed - empty_missed], "%", MISSED_BOUND
    )
    worst = []
    for number, found in enumerate(offsets_ms(recording, clocks, shown)):
        assert found, f"source {number + 1} is not heard"
        report(f"show: A/V offset of source {number + 1}", found, "ms")
        worst.append(abs(statistics.median(found)))
    return beyond, report("show: largest A/V offset of a source", [max(worst)], "ms", AV_BOUND_MS)


def report_cores(report: Callable[..., float], pod: Counter[str], machine: Counter[str]) -> None:
    report("show: CPU of the pod", [sum(pod.values())], "core")
    report("show: CPU of everything on the machine", [sum(machine.values())], "core")
    others = Counter({program: used - pod[program] for program, used in machine.items()})
    for of, cores in (("the pod's", pod), ("other", others)):
        for program, used in cores.most_common():
            if used >= 0.02:
                report(f"show: CPU of {of} {program}", [used], "core")


def test_a_show(stage: BenchStage, clip: Path, tmp_path: Path, report: Callable[..., float]) -> None:
    air = stage.air
    sources = [air.source() for _ in range(2)]
    files = {
        "/ticker": ("text/html", TICKER.read_bytes()),
        "/stage.svg": ("image/svg+xml", (DEMO / "stage.svg").read_bytes()),
        "/stinger.webm": ("video/webm", media.band_webm((200, 40, 40), 1, (1280, 720), RATE, 160)),
    }
    camera = make_recording(tmp_path / "camera.ivf", *CAMERA)
    with ExitStack() as stack:
        files_at = stack.enter_context(site(files))
        layouts = build(air, [id_ for id_, _ in sources], files_at)
        air.select(layouts.empty)
        stack.enter_context(pushed(clip, *(url for _, url in sources)))
        for name in NAMES:
            token = air.room_token(air.guest(name), name)
            stack.enter_context(recorded_camera(air.signal_url, token, camera, insist_s=40))
        time.sleep(BEGIN_S)
        with (
            programs_cores() as machine,
            programs_cores(air.pod) as pod,
            programs_major_faults(air.pod) as faults,
        ):
            performance = perform(stage, layouts, tmp_path)
        conditions = air.status()["conditions"]
        phase_s = metrics_at(air.pod.address)["onair_encoder_capture_phase_seconds"]
        report("show: captures after Chromium begins a frame", [phase_s * 1000], "ms")
    assert not [each for each in conditions if each["type"] == "LayerFailed" and each["status"] == "True"]
    report_cores(report, pod, machine)
    # A machine that takes memory back from programs makes frames late, above all the first of a kind
    report("show: pages of memory that the pod's programs waited for", [float(faults.total())], "")
    beyond, offset = report_media(report, performance)
    assert beyond < MISSED_BOUND * 2
    assert offset < AV_BOUND_MS * 2
