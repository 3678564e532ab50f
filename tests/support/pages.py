"""Pages served to containers."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.support.docker import host_address

DEMO = Path(__file__).parents[2] / "images/demo"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder of pages; gives their address."""
    host = host_address()
    server = http.server.ThreadingHTTPServer((host, 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def probe_page() -> Iterator[str]:
    """The page whose clock, flashes and clicks tests read."""
    with served(DEMO) as address:
        yield f"{address}/probe.html"
