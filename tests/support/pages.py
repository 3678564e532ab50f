"""Pages served to containers."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.docker import host_address

DEMO = Path(__file__).parents[2] / "images/demo"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def _serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    host = host_address()
    server = http.server.ThreadingHTTPServer((host, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder of pages; gives their address."""
    with _serving(functools.partial(_Quiet, directory=str(folder))) as address:
        yield address


@contextlib.contextmanager
def site(
    files: dict[str, tuple[str, bytes]], before: Callable[[str], object] = lambda path: None
) -> Iterator[str]:
    """Files by their path, with their types, for pages of any origin; gives their address.

    Args:
        before: is called with a path before its file is given, which may take its time.
    """

    class FileHandler(_Quiet):
        def do_GET(self) -> None:
            if self.path not in files:  # a browser's search for an icon
                self.send_error(404)
                return
            before(self.path)
            content_type, body = files[self.path]
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # a browser that has enough of a video
                self.wfile.write(body)

    with _serving(FileHandler) as address:
        yield address


@contextlib.contextmanager
def responding(respond: Callable[[str], tuple[int, str]], **headers: str) -> Iterator[str]:
    """A page with these headers, whose status and text `respond` says for each path; gives its address.

    The text of a redirect is where it leads.
    """

    class ResponseHandler(_Quiet):
        def do_GET(self) -> None:
            status, text = respond(self.path)
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            if status == http.HTTPStatus.FOUND:
                self.send_header("Location", text)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    with _serving(ResponseHandler) as address:
        yield f"{address}/"


@contextlib.contextmanager
def probe_page() -> Iterator[str]:
    """The page whose clock, flashes and clicks tests read."""
    with served(DEMO) as address:
        yield f"{address}/probe.html"
