"""A public page is on air once it says so, where it has said that it is loading; else once it has painted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.live_view import LiveView, Pixels
from tests.support.media.stream import gray_frames, is_slate
from tests.support.pages import responding, site
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

SAYS = {
    "console": "console.log(word)",
    "event": "document.dispatchEvent(new Event(word))",
}
PAGE = """<!doctype html><body style="background: #fff">hello<iframe srcdoc="<script>
console.log('onair:ready'); window.dispatchEvent(new Event('onair:ready'))</script>"></iframe><script>
const say = word => { %s; };
say('onair:loading');
const ask = async () => {
  if ((await (await fetch('/ready')).text()) === 'yes') say('onair:ready');
  else setTimeout(ask, 50);
};
addEventListener('load', ask);
</script>"""


WORDLESS = """<!doctype html><link rel="stylesheet" href="/style.css"><body>hello"""
FRAMED = """<!doctype html><body style="margin: 0"><iframe src="/frame"
style="border: 0; width: 100vw; height: 100vh"></iframe>"""
FRAME = """<!doctype html><body style="background: rgb(0, 120, 0)">hello<img src="/held.png">"""
HELD = "/style.css", "/held.png"
STYLE = b"html { background: rgb(0, 120, 0) }"
GREEN, TOLERANCE, BLACK = (0, 120, 0), 4, 8
CORNER = slice(-40, -4)
"""Of the picture, beside its words."""
HELD_S, UNPAINTED_S, SLATE_AFTER_MS = 60, 4.0, 1500


@dataclass
class PublicPage:
    url: str = ""
    ready: bool = False
    asked: int = 0


@pytest.fixture(params=sorted(SAYS))
def public_page(request: pytest.FixtureRequest) -> Iterator[PublicPage]:
    public = PublicPage()
    text = PAGE % SAYS[request.param]

    def respond(path: str) -> tuple[int, str]:
        if path != "/ready":
            return 200, text
        public.asked += 1
        return 200, "yes" if public.ready else "no"

    with responding(respond) as public.url:
        yield public


def test_a_page_that_is_loading_is_on_air_once_it_is_ready_and_until_then_a_slate_at_most(
    pair: PodPair, far_end: RtmpContainer, public_page: PublicPage
) -> None:
    pair.put(programme(public_page.url, far_end, "word", page_timeout_ms=12_000)).raise_for_status()
    pair.wait_for(lambda: public_page.asked > 5, "loading")
    assert pair.status().phase == "starting"
    slate = pair.wait_phase("running", 40)
    assert slate.on_slate
    assert slate.composition_error == "the page has not said that it is ready"
    pair.wait_connected("word")
    assert is_slate(gray_frames(far_end.read_url("word"), 0.5))
    public_page.ready = True
    pair.wait_for(lambda: not pair.status().on_slate, "on air")
    assert pair.status().composition_error is None
    pair.wait_for(lambda: gray_frames(far_end.read_url("word"), 0.5)[-1].mean() > 200, "the page is seen", 20)


@dataclass
class HeldPage:
    """A page of which something is held until it is to be given."""

    asked: threading.Event
    given: threading.Event

    def hold(self, path: str) -> None:
        if path in HELD:
            self.asked.set()
            self.given.wait(HELD_S)


@pytest.fixture
def held_page() -> Iterator[tuple[str, HeldPage]]:
    files = {"/": ("text/html", WORDLESS.encode()), "/style.css": ("text/css", STYLE)}
    files |= {"/framed": ("text/html", FRAMED.encode()), "/frame": ("text/html", FRAME.encode())}
    files |= {"/held.png": ("image/png", b"")}
    page = HeldPage(threading.Event(), threading.Event())
    with site(files, page.hold) as address:
        try:
            yield address, page
        finally:
            page.given.set()


def test_a_page_that_says_nothing_is_on_air_with_its_first_paint(
    pair: PodPair, far_end: RtmpContainer, held_page: tuple[str, HeldPage]
) -> None:
    address, page = held_page
    pair.put(programme(f"{address}/", far_end, "paint", page_timeout_ms=SLATE_AFTER_MS)).raise_for_status()
    pair.wait_for(page.asked.is_set, "the style sheet is asked for", 40)
    assert pair.wait_phase("running", 40).on_slate
    pair.wait_connected("paint")
    with LiveView(far_end.rtmp_url("paint")) as view, view.recording() as recording:
        view.watch(UNPAINTED_S)
        assert pair.status().on_slate
        page.given.set()
        view.until("the page", lambda pixels: what(pixels) == "page", 20)
    assert not pair.status().on_slate
    seen = [what(each.pixels) for each in recording.frames]
    first = seen.index("page")
    # The screen is black until the page is on it, and the slate may go with the last frame before that
    assert "slate" in seen[:first]
    assert set(seen[:first]) <= {"slate", "black"}, seen
    assert set(seen[first:]) == {"page"}, seen


def test_a_page_whose_frames_paint_for_it_does_not_wait_for_all_that_they_load(
    pair: PodPair, far_end: RtmpContainer, held_page: tuple[str, HeldPage]
) -> None:
    address, page = held_page
    pair.put(programme(f"{address}/framed", far_end, "framed", page_timeout_ms=20_000)).raise_for_status()
    assert not pair.wait_phase("running", 40).on_slate
    pair.wait_connected("framed")
    assert page.asked.is_set()
    assert not page.given.is_set()
    with LiveView(far_end.rtmp_url("framed")) as view:
        view.until("the frame", lambda pixels: what(pixels) == "page", 20)


def what(pixels: Pixels) -> str:
    """What is on air."""
    if is_slate(pixels.mean(axis=2)[None].astype(np.uint8)):
        return "slate"
    if pixels.max() <= BLACK:
        return "black"
    corner = pixels[CORNER, CORNER].astype(int)
    return "page" if np.abs(corner - np.array(GREEN)).max() <= TOLERANCE else "neither"
