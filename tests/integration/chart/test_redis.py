"""Runs Redis as the chart does: what it may take of memory, and what a renewed certificate does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from redis import Redis, RedisError
from redis.exceptions import OutOfMemoryError
from tests.support.certificate_authority import HOST, CertificateAuthority
from tests.support.child_process import START_TIMEOUT_S, ChildProcess
from tests.support.control_plane import free_port
from tests.support.helm import named, render
from tests.support.waiting import wait_for

LIMIT = 64 << 20
CERTIFICATES = "/etc/onair-redis-tls"


def command_of(folder: Path, *options: str) -> list[str]:
    """The chart's, with its files in a folder."""
    pod = named(render(*options), "Deployment", "onair-redis")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (folder / "redis.conf").write_text("")
    given = {"/run/onair/redis/redis.conf": str(folder / "redis.conf"), "/tmp": str(folder)}
    command = [given.get(each, each) for each in container["command"]]
    command[2] = command[2].replace("/tmp/", f"{folder}/")
    return [each.replace(CERTIFICATES, str(folder / "tls")) for each in command]


def responds(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False


def fill(client: Redis) -> None:
    for each in range(LIMIT >> 20):
        client.set(str(each), b"x" * (1 << 20))


def test_beyond_its_memory_it_refuses_writes_and_goes_on(tmp_path: Path) -> None:
    port, variables = free_port(), {"MEMORY_LIMIT": str(LIMIT)}
    server = ChildProcess([*command_of(tmp_path), "--port", str(port)], tmp_path / "log", variables)
    try:
        with Redis(HOST, port) as client:
            wait_for(lambda: responds(client), "Redis responds", START_TIMEOUT_S)
            with pytest.raises(OutOfMemoryError):
                fill(client)
            assert client.info("memory")["used_memory"] < LIMIT
            assert client.ping()
    finally:
        server.stop()


def test_it_ends_where_its_certificate_was_renewed(tmp_path: Path) -> None:
    authority, served = CertificateAuthority(tmp_path), tmp_path / "tls"
    served.mkdir()

    def renew() -> None:
        certificate, key = authority.issue("redis", "redis")
        for file, name in ((certificate, "tls.crt"), (key, "tls.key"), (authority.certificate, "ca.crt")):
            shutil.copy(file, served / f".{name}")
            (served / f".{name}").rename(served / name)

    renew()
    command = command_of(tmp_path, "--set", "redis.tls.secret=redis-tls")
    command[2] = command[2].replace("sleep 10", "sleep 0.1")
    port = free_port()
    server = ChildProcess([*command, "--tls-port", str(port)], tmp_path / "log")
    try:
        with Redis(HOST, port, ssl=True, ssl_ca_certs=str(authority.certificate)) as client:
            wait_for(lambda: responds(client), "Redis responds", START_TIMEOUT_S)
            renew()
            wait_for(lambda: server.process.poll() is not None, "it has ended")
        assert server.process.returncode == 0, "the kubelet starts it again"
    finally:
        server.stop()
