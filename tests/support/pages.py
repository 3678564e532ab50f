"""Pages served to containers."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

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


class FaultyPage:
    """A page that reloads itself all the time, from a server that can be told what to respond."""

    HTML = b"<!doctype html><script>setTimeout(() => location.reload(), 300)</script>"

    def __init__(self) -> None:
        self.response = (200, self.HTML)
        page = self

        class Handler(_Quiet):
            def do_GET(self) -> None:
                status, body = page.response
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = http.server.ThreadingHTTPServer((host_address(), 0), Handler)
        self.host = f"{host_address()}:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def probe_page() -> Iterator[str]:
    """The page whose clock, flashes and clicks tests read."""
    with served(DEMO) as address:
        yield f"{address}/probe.html"
