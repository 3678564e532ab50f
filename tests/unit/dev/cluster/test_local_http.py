"""What is asked of this machine is not asked of a proxy."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient

from onair_dev.cluster import chart, registry


class AnsweringProxy(BaseHTTPRequestHandler):
    """Answers for whatever it is asked to fetch."""

    def _answer(self) -> None:
        body = b'{"accessToken": "t", "ready": true, "bytesReceived": 1}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET = do_POST = _answer  # noqa: N815 - names of http.server

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def unused_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A port at which nothing listens, on a machine that has a proxy for everything."""
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), AnsweringProxy) as proxy,
        socket.socket() as reserved,
    ):
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        # Made at the first request of a process, with the proxies of then
        monkeypatch.setattr(urllib.request, "_opener", None)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]
        proxy.shutdown()


def test_no_proxy_answers_for_the_registry(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "REGISTRY_PORT", unused_port)
    assert not registry.responds()


def test_no_proxy_answers_for_the_api(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chart, "url", lambda: f"http://127.0.0.1:{unused_port}")
    assert not chart.responds()


@pytest.mark.parametrize(
    "ask",
    [
        lambda url: FacadeClient(url, "key"),
        lambda url: ReceiverClient(url).ready("live/hello"),
    ],
    ids=["the facade", "the receiver"],
)
def test_no_proxy_answers_the_demo(
    ask: Callable[[str], object], unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONAIR_RECEIVER_API", "api:secret")
    with pytest.raises(httpx.ConnectError):
        ask(f"http://127.0.0.1:{unused_port}")
