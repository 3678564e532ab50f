"""`python -m onair_api` as the container runs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.control_plane import free_port
from tests.support.facade import StoredResources
from tests.support.facade_process import START_S
from tests.support.ipv6 import has_ipv6
from tests.support.plain_http import NO_TLS
from tests.support.waiting import wait_for

from onair_api.__main__ import NOT_STARTED, connect
from onair_api.errors import Code
from onair_api.kubernetes_errors import rpc_error
from onair_crds.kube.apis import CUSTOM
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import API_VERSION
from onair_crds.runtime.garbage import THRESHOLDS
from onair_crds.shapes import JsonObject


@pytest.fixture
def config(tmp_path: Path, resources: StoredResources) -> Path:
    path = tmp_path / "config.yaml"
    settings = {
        "listen": {"port": free_port(), "grpcPort": free_port()},
        "ingest": {"hookPort": free_port()},
        "showNamespace": resources.shows,
        "releaseNamespace": resources.release,
    }
    path.write_text(yaml.safe_dump(settings))
    return path


TELL = """
import gc, json, os, pathlib, signal, sys

def tell(*_):
    told = {
        "left out": gc.get_freeze_count(),
        "thresholds": gc.get_threshold(),
    }
    path = pathlib.Path(os.environ["TOLD"])
    path.with_suffix(".new").write_text(json.dumps(told))
    path.with_suffix(".new").replace(path)

signal.signal(signal.SIGUSR1, tell)
"""
"""What Python runs before a program: by a signal it tells of itself."""
MODULES = 50_000
"""Fewer objects than the facade's modules have."""


class FacadeProgram:
    """The program, in a process."""

    def __init__(self, config: Path, rights: Path, folder: Path) -> None:
        self._told = folder / "told"
        (folder / "sitecustomize.py").write_text(TELL)
        environment = {**os.environ, "ONAIR_CONFIG": str(config), "KUBECONFIG": str(rights)}
        environment |= {"TOLD": str(self._told)}
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), *(p for p in sys.path if p)])
        self._port = yaml.safe_load(config.read_text())["listen"]["port"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "onair_api"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def ready(self, host: str = "127.0.0.1") -> bool:
        assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
        try:
            return httpx.get(f"http://{host}:{self._port}/readyz", trust_env=False, verify=NO_TLS).is_success
        except httpx.TransportError:
            return False

    def end(self) -> bytes:
        """Has it end; returns all that it printed."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=10)[0]

    def tell(self) -> JsonObject:
        self._told.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        wait_for(self._told.exists, "it tells")
        told: JsonObject = json.loads(self._told.read_text())
        return told


@pytest.fixture
def program(config: Path, rights: Path, tmp_path: Path) -> Iterator[FacadeProgram]:
    program = FacadeProgram(config, rights, tmp_path)
    try:
        wait_for(program.ready, "the program is ready", START_S)
        yield program
    finally:
        program.process.kill()
        program.process.communicate()


@pytest.mark.parametrize("name", ["port", "grpcPort"])
def test_a_port_that_is_taken_is_named_as_the_program_ends(
    config: Path, rights: Path, tmp_path: Path, name: str
) -> None:
    with socket.create_server(("0.0.0.0", yaml.safe_load(config.read_text())["listen"][name])):
        program = FacadeProgram(config, rights, tmp_path)
        output, _ = program.process.communicate(timeout=60)
    assert program.process.returncode == NOT_STARTED, output
    assert b'"event":"api.cannot_listen"' in output
    assert b"Traceback" not in output


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_all_ports_of_the_program_are_served_by_both_families(program: FacadeProgram, config: Path) -> None:
    assert program.ready("[::1]")
    settings = yaml.safe_load(config.read_text())
    for port in (settings["listen"]["grpcPort"], settings["ingest"]["hookPort"]):
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, port), 5).close()


def test_the_program_serves_and_ends_in_order(program: FacadeProgram) -> None:
    output = program.end()
    assert program.process.returncode == 0, output
    assert b'"api.started"' in output
    assert b'"api.stopped"' in output
    assert b"Traceback" not in output


def test_collections_of_garbage_leave_modules_out(program: FacadeProgram) -> None:
    told = program.tell()
    assert told["left out"] > MODULES
    assert tuple(told["thresholds"]) == THRESHOLDS


async def test_it_writes_nothing_that_the_api_server_would_not_keep(
    kubeconfig: Path, crds: None, namespace: str
) -> None:
    spec = {"owner": {"serviceId": "s", "serviceUserId": "u"}, "later": 1}
    made = {"apiVersion": API_VERSION, "kind": "Collection", "metadata": {"name": "made"}, "spec": spec}
    async with await connect(str(kubeconfig)) as client:
        with pytest.raises(ApiError, match="later") as refused:
            await client.create(CUSTOM["Collection"], namespace, made)
    assert rpc_error(refused.value).code is Code.UNAVAILABLE
