"""A public page is on air once it says so, where it has said before that it is loading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.stream import gray_frames, is_slate
from tests.support.pages import responding
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
