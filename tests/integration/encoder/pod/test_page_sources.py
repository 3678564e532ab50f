"""Pages from anywhere reach what the agent serves on the pod's loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.pages import responding
from tests.support.pod_pair import PodPair, programme

from onair_crds.contract.pod import SOURCES_PATH, SOURCES_PORT

pytestmark = pytest.mark.media

PAGE = f"""<!doctype html><script>
const say = text => fetch('/said/' + encodeURIComponent(text));
const at = '127.0.0.1:{SOURCES_PORT}{SOURCES_PATH}';
fetch('http://' + at + '/source.js').then(script => say('script ' + script.status), () => say('no script'));
const socket = new WebSocket('ws://' + at + '/nothing');
socket.onclose = event => say('closed ' + event.code);
</script>"""


@dataclass
class PublicPage:
    """A page that the browser takes for one of the internet, and what it says."""

    url: str = ""
    said: list[str] = field(default_factory=list)


@pytest.fixture
def public_page() -> Iterator[PublicPage]:
    public = PublicPage()

    def respond(path: str) -> tuple[int, str]:
        if path.startswith("/said/"):
            public.said.append(unquote(path.removeprefix("/said/")))
        return 200, PAGE

    with responding(respond, **{"Content-Security-Policy": "treat-as-public-address"}) as public.url:
        yield public


def test_a_page_from_the_internet_reaches_the_sources_of_its_pod(
    pair: PodPair, far_end: RtmpContainer, public_page: PublicPage
) -> None:
    pair.put(programme(public_page.url, far_end, "public")).raise_for_status()
    pair.wait_for(lambda: {"script 200", "closed 4404"} <= {*public_page.said}, "reached")
