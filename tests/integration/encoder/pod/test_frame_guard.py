"""A page whose frames were late once is not drawn late from then on."""

from __future__ import annotations

import http.server
import json
import queue
import threading
from collections.abc import Iterator

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import host_address
from tests.support.pod_pair import PodPair, programme

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

PAGE = """<!doctype html><canvas id="c" width="300" height="200"></canvas><script>
'use strict';
const g = document.getElementById('c').getContext('2d');
const HITCH_MS = 4000, END_MS = 9000;
let frames = 0, requested = 0, cancelled = 0, hitchAt = null;
const heldAt = [];
let refused = '';
try { requestAnimationFrame('none'); } catch (error) { refused = error.name; }
function frame(at) {
  frames += 1;
  g.fillStyle = `hsl(${at / 10 % 360} 60% 50%)`;
  g.fillRect(0, 0, 300, 200);
  if (at > END_MS) {
    const body = JSON.stringify({frames, requested, cancelled, hitchAt, heldAt, refused});
    fetch('/report', {method: 'POST', body});
    return;
  }
  const handle = requestAnimationFrame(frame);
  requested += 1;
  if (handle >= 2 ** 31) heldAt.push(at);
  cancelAnimationFrame(requestAnimationFrame(() => { cancelled += 1; }));
  if (hitchAt === null && at > HITCH_MS) {
    hitchAt = at;
    while (performance.now() < at + 120);
  }
}
requestAnimationFrame(frame);
requested += 1;
</script>"""


class _Reports:
    """Serves the page and takes its report."""

    def __init__(self) -> None:
        self.queue: queue.Queue[JsonObject] = queue.Queue()
        reports = self.queue

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._respond(PAGE.encode())

            def do_POST(self) -> None:
                reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self._respond(b"")

            def _respond(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer((host_address(), 0), Handler)
        self.address = f"http://{host_address()}:{self.server.server_port}/"


@pytest.fixture
def reports() -> Iterator[_Reports]:
    serving = _Reports()
    threading.Thread(target=serving.server.serve_forever, daemon=True).start()
    yield serving
    serving.server.shutdown()
    serving.server.server_close()


def test_frames_are_skipped_after_a_hitch_and_no_callback_is_lost(
    pair: PodPair, reports: _Reports, far_end: RtmpContainer
) -> None:
    pair.put(programme(reports.address, far_end))
    report = reports.queue.get(timeout=30)
    late = [at for at in report["heldAt"] if at > report["hitchAt"]]
    assert late, f"no frame was skipped after the hitch: {report}"
    assert report["frames"] == report["requested"], "each callback is called once"
    assert report["cancelled"] == 0, "also one that had to wait can be cancelled"
    assert report["refused"] == "TypeError"
