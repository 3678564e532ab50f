"""Pages from anywhere reach what the agent serves on the pod's loopback."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import host_address
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

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/said/"):
                public.said.append(unquote(self.path.removeprefix("/said/")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Security-Policy", "treat-as-public-address")
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer((host_address(), 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    public.url = f"http://{host_address()}:{server.server_port}/"
    yield public
    server.shutdown()
    server.server_close()


def test_a_page_from_the_internet_reaches_the_sources_of_its_pod(
    pair: PodPair, far_end: RtmpContainer, public_page: PublicPage
) -> None:
    pair.put(programme(public_page.url, far_end, "public")).raise_for_status()
    pair.wait_for(lambda: {"script 200", "closed 4404"} <= {*public_page.said}, "reached")
