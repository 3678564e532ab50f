"""Measures how long a change of a scene takes until it is decoded at the RTMP server."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

from tests.support.cluster import LocalCluster
from tests.support.media.live_view import LiveView, Pixels
from tests.support.scene.live_scene import LiveScene, PutOnAir

from onair_crds.shapes import JsonObject

CHANGES, SWITCHES = 40, 20
PAUSE_S = 0.4
"""Between changes, less a part of a frame each time: they come in every phase of the frames."""
HTTP_BOUND_S, KUBECTL_BOUND_S = 0.25, 0.3
FIRST_STEP = 6
"""Of 255: what the first frame of a crossfade differs by from black."""
WHITE, BLACK = "#fff", "#000"
SHOWN = (64, 36)


def square(colour: str, **fields: object) -> JsonObject:
    return {"type": "square", "data": {"backgroundColor": colour}, **fields}


def p95(samples: list[float]) -> float:
    return statistics.quantiles(samples, n=20)[-1]


def is_bright(pixels: Pixels) -> bool:
    return bool(pixels.mean() > 127)


def is_dark(pixels: Pixels) -> bool:
    return not is_bright(pixels)


def has_begun(pixels: Pixels) -> bool:
    return bool(pixels.mean() > FIRST_STEP)


def is_over(pixels: Pixels) -> bool:
    return bool(pixels.mean() > 250)


def changes_s(view: LiveView, change: Callable[[str], None]) -> list[float]:
    """From the beginning of each change of colour until it is decoded."""
    delays = []
    for number in range(CHANGES):
        time.sleep(PAUSE_S + number % 10 * 0.0033)
        bright = number % 2 == 0
        with view.recording() as recording:
            began = time.time()
            change(WHITE if bright else BLACK)
            delays.append(view.first(recording, is_bright if bright else is_dark).decoded_at - began)
    return delays


def test_a_change_of_a_layer_is_on_air_soon(
    scene: LiveScene, put_on_air: PutOnAir, cluster: LocalCluster, report: Callable[..., float]
) -> None:
    layout = scene.layout(square=square(BLACK))

    def by_http(colour: str) -> None:
        layout.patch("square", data={"backgroundColor": colour})

    layers = cluster.get("layout", layout.id)["spec"]["layers"]
    at = next(number for number, each in enumerate(layers) if each["id"] == layout.ids["square"])

    alone: list[float] = []

    def by_kubectl(colour: str) -> None:
        began = time.monotonic()
        value = {"op": "replace", "path": f"/spec/layers/{at}/data", "value": {"backgroundColor": colour}}
        cluster.shows("patch", "layout", layout.id, "--type", "json", "-p", json.dumps([value]))
        alone.append(time.monotonic() - began)

    with put_on_air(layout, SHOWN) as view:
        http, kubectl = changes_s(view, by_http), changes_s(view, by_kubectl)
    report("layer change → on air by HTTP, p50", [statistics.median(http)], "s")
    http_p95 = report("layer change → on air by HTTP, p95", [p95(http)], "s", HTTP_BOUND_S)
    report("kubectl alone, from its start to its end, p50", [statistics.median(alone)], "s")
    report("layer change → on air by kubectl, p50", [statistics.median(kubectl)], "s")
    kubectl_p95 = report("layer change → on air by kubectl, p95", [p95(kubectl)], "s", KUBECTL_BOUND_S)
    assert http_p95 < HTTP_BOUND_S * 2
    assert kubectl_p95 < KUBECTL_BOUND_S * 2


def test_a_switch_begins_on_air_soon(
    scene: LiveScene, put_on_air: PutOnAir, report: Callable[..., float]
) -> None:
    dark = scene.layout(square=square(BLACK))
    bright = scene.layout({"crossfade": {"durationMs": 500}}, square=square(WHITE))
    first: list[float] = []
    whole: list[float] = []
    with put_on_air(dark, SHOWN) as view:
        for number in range(SWITCHES):
            time.sleep(PAUSE_S + number % 10 * 0.0033)
            with view.recording() as recording:
                began = time.time()
                scene.select(bright)
                first.append(view.first(recording, has_begun).decoded_at - began)
                whole.append(view.first(recording, is_over).decoded_at - began)
            with view.recording() as recording:
                scene.select(dark)
                view.first(recording, lambda pixels: not has_begun(pixels))
    report("switch → first frame of its crossfade, p50", [statistics.median(first)], "s")
    begins = report("switch → first frame of its crossfade, p95", [p95(first)], "s")
    report("switch → a crossfade of 0.5 s is over, p50", [statistics.median(whole)], "s")
    assert begins < HTTP_BOUND_S * 2
