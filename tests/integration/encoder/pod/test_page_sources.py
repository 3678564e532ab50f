"""Pages from anywhere reach what the agent serves on the pod's loopback, if they have a secure context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.ingest.pod_page import URL, page_in_container
from tests.support.pages import responding
from tests.support.pod_pair import PodPair, programme

from onair_crds.contract.pod import SOURCES_PATH, SOURCES_PORT

pytestmark = pytest.mark.media

PUBLIC = "treat-as-public-address"
PAGE = f"""<!doctype html><script>
const say = text => fetch('LISTENER/said/' + encodeURIComponent(text), {{mode: 'no-cors'}});
const at = '127.0.0.1:{SOURCES_PORT}{SOURCES_PATH}';
fetch('http://' + at + '/source.js').then(script => say('script ' + script.status), () => say('no script'));
const socket = new WebSocket('ws://' + at + '/nothing');
socket.onclose = event => say('closed ' + event.code);
</script>"""


@dataclass
class PageListener:
    """A server that hears what a page says."""

    url: str = ""
    said: list[str] = field(default_factory=list)

    def respond(self, path: str) -> tuple[int, str]:
        if path.startswith("/said/"):
            self.said.append(unquote(path.removeprefix("/said/")))
        return 200, ""


@pytest.fixture
def listener() -> Iterator[PageListener]:
    listener = PageListener()
    with responding(listener.respond) as listener.url:
        yield listener


def test_a_page_from_the_internet_reaches_the_sources_of_its_pod(
    pair: PodPair, far_end: RtmpContainer, listener: PageListener
) -> None:
    """The browser takes it for one of the internet, and for as safe as one by https."""
    pair.allow(urlsplit(listener.url).netloc)
    page = PAGE.replace("LISTENER", listener.url.rstrip("/"))
    with page_in_container(f"{pair.name}-encoder", page, PUBLIC):
        pair.put(programme(URL, far_end, "public")).raise_for_status()
        pair.wait_for(lambda: {"script 200", "closed 4404"} <= {*listener.said}, "reached")
