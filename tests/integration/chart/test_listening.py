"""Runs servers as the chart does: they are reached by IPv4 and by IPv6."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
from redis import Redis, RedisError
from tests.support.child_process import ChildProcess
from tests.support.control_plane import free_port
from tests.support.helm import named, render
from tests.support.ipv6 import has_ipv6
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

HOSTS = ["127.0.0.1", *(["::1"] if has_ipv6() else [])]


def command_of(deployment: str) -> list[str]:
    (container,) = named(render(), "Deployment", deployment)["spec"]["template"]["spec"]["containers"]
    command: list[str] = container["command"]
    return command


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[None]:
    server = ChildProcess(command, folder / "log")
    try:
        yield
    finally:
        server.stop()


def test_pages_of_the_demo_are_served_by_ipv4_and_ipv6(tmp_path: Path) -> None:
    pages, port = tmp_path / "pages", free_port()
    pages.mkdir()
    (pages / "page.html").write_text("a page")
    shell, option, script = command_of("onair-demo")
    assert " 8000 " in script
    script = script.replace(" 8000 ", f" {port} ").replace("/srv/pages", str(pages))

    def serves(host: str) -> bool:
        address = f"[{host}]" if ":" in host else host
        try:
            return httpx.get(f"http://{address}:{port}/page.html", trust_env=False, verify=NO_TLS).is_success
        except httpx.TransportError:
            return False

    with running([shell, option, script], tmp_path):
        for host in HOSTS:
            wait_for(partial(serves, host), f"the page is served at {host}")


def test_redis_is_served_by_ipv4_and_ipv6(tmp_path: Path) -> None:
    settings, port = tmp_path / "redis.conf", free_port()
    settings.write_text("requirepass of-the-test\n")
    given = {"/run/onair/redis/redis.conf": str(settings), "/tmp": str(tmp_path)}
    command = [given.get(each, each) for each in command_of("onair-redis")]

    def serves(host: str) -> bool:
        try:
            return bool(Redis(host, port, password="of-the-test").ping())
        except RedisError:
            return False

    with running([*command, "--port", str(port)], tmp_path):
        for host in HOSTS:
            wait_for(partial(serves, host), f"Redis responds at {host}")
