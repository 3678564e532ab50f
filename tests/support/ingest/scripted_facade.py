"""The facade as a gateway sees it: answers about the keys that a test names."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from onair_crds.contract.ingest_gateway import HOOK_PATH, PublishRefusal, PublishRequest, gateway_token


class ScriptedFacade:
    """Admits `keys`, refuses those of `refusals`, knows no other. Use as a context manager."""

    def __init__(self, secret: bytes) -> None:
        self.keys: set[str] = set()
        self.refusals: dict[str, PublishRefusal] = {}
        self.asked: list[PublishRequest] = []
        self._away = False
        self._goes_on = threading.Event()
        self._goes_on.set()
        facade, authorization = self, f"Bearer {gateway_token(secret, 'facade')}"

        class HookHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two packets: the second would wait for 40 ms

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path != HOOK_PATH or self.headers["Authorization"] != authorization:
                    self._respond(401, "")
                    return
                request = PublishRequest.model_validate_json(body)
                facade.asked.append(request)
                facade._goes_on.wait()
                if facade._away:
                    self._respond(503, "")
                    return
                key = request.stream_key.get_secret_value()
                unknown = PublishRefusal(reason="UnknownKey", message="no source has this stream key")
                refusal = facade.refusals.get(key) or (None if key in facade.keys else unknown)
                self._respond(403, refusal.wire()) if refusal else self._respond(204, "")

            def _respond(self, status: int, text: str) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                with suppress(BrokenPipeError):  # a gateway does not wait for long
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), HookHandler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    @contextmanager
    def away(self) -> Iterator[None]:
        """It answers nobody's question meanwhile."""
        self._away = True
        try:
            yield
        finally:
            self._away = False

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It takes every question and answers none meanwhile."""
        self._goes_on.clear()
        try:
            yield
        finally:
            self._goes_on.set()

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
