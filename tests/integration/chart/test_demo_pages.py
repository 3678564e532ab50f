"""Runs the server of the demo's pages as the chart does."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.support.child_process import ChildProcess
from tests.support.control_plane import free_port
from tests.support.helm import named, render
from tests.support.ipv6 import has_ipv6
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        pytest.param("[::1]", marks=pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")),
    ],
)
def test_pages_are_served_by_ipv4_and_ipv6(tmp_path: Path, host: str) -> None:
    pages, port = tmp_path / "pages", free_port()
    pages.mkdir()
    (pages / "page.html").write_text("a page")
    (container,) = named(render(), "Deployment", "onair-demo")["spec"]["template"]["spec"]["containers"]
    shell, option, script = container["command"]
    assert " 8000 " in script
    script = script.replace(" 8000 ", f" {port} ").replace("/srv/pages", str(pages))
    server = ChildProcess([shell, option, script], tmp_path / "log")
    try:
        wait_for(lambda: _serves(host, port), "the page is served")
    finally:
        server.stop()


def _serves(host: str, port: int) -> bool:
    try:
        return httpx.get(f"http://{host}:{port}/page.html", trust_env=False, verify=NO_TLS).text == "a page"
    except httpx.TransportError:
        return False
