"""`python -m onair_api` as the container runs it, and its watch after a long absence."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client import REGISTRY
from tests.support.control_plane import free_port
from tests.support.facade import Cluster, wait_for

from onair_api.cache.kinds import BY_KIND, COLLECTION
from onair_api.cache.reflector import Reflector
from onair_api.cache.view import View
from onair_api.settings import CacheSettings
from onair_crds.kube.client import KubeClient


@pytest.fixture
def config(tmp_path: Path, cluster: Cluster) -> Path:
    path = tmp_path / "config.yaml"
    settings = {
        "listen": {"host": "127.0.0.1", "port": free_port()},
        "showNamespace": cluster.shows,
        "releaseNamespace": cluster.release,
    }
    path.write_text(yaml.safe_dump(settings))
    return path


def test_the_program_serves_and_ends_in_order(config: Path, rights: Path) -> None:
    environment = {**os.environ, "ONAIR_CONFIG": str(config), "KUBECONFIG": str(rights)}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    url = f"http://127.0.0.1:{yaml.safe_load(config.read_text())['listen']['port']}"
    command = [sys.executable, "-m", "onair_api"]
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ready() -> bool:
        assert program.poll() is None, program.stdout and program.stdout.read()
        try:
            return httpx.get(f"{url}/readyz", trust_env=False).is_success
        except httpx.TransportError:
            return False

    try:
        wait_for(ready, "the program is ready")
        program.send_signal(signal.SIGTERM)
        output, _ = program.communicate(timeout=10)
    finally:
        program.kill()
    assert program.returncode == 0, output
    assert b'"api.started"' in output
    assert b'"api.stopped"' in output
    assert b"Traceback" not in output


def restarts(reason: str) -> float:
    labels = {"kind": COLLECTION, "reason": reason}
    return REGISTRY.get_sample_value("onair_api_watch_restarts_total", labels) or 0


async def test_a_watch_that_is_too_old_lists_again_and_drops_what_is_gone(
    kubeconfig: Path, cluster: Cluster
) -> None:
    spec = {"owner": {"serviceId": "s", "serviceUserId": "u"}}
    cluster.apply("Collection", "collections", "there", spec)
    view = View()
    ghost = {"metadata": {"name": "ghost", "uid": "ghost", "resourceVersion": "1"}, "spec": spec}
    view.put(COLLECTION, ghost)
    settings = CacheSettings(backoff_initial_s=0.01)
    before = restarts("gone")
    async with await KubeClient.connect(str(kubeconfig)) as client:
        reflector = Reflector(client, view, BY_KIND[COLLECTION], cluster.shows, settings)
        reflector._version = "1"
        task = asyncio.create_task(reflector.run())
        await asyncio.wait_for(reflector.synced.wait(), 10)
        task.cancel()
    assert view.get(COLLECTION, "there") is not None
    assert view.get(COLLECTION, "ghost") is None
    assert restarts("gone") > before


async def test_a_watch_that_falls_silent_is_given_up(kubeconfig: Path, cluster: Cluster) -> None:
    """Nothing is sent on a quiet watch for a minute; a shorter patience shows what a dead peer causes."""
    before = restarts("broken")
    settings = CacheSettings(inactivity_s=1, backoff_initial_s=0.01)
    async with await KubeClient.connect(str(kubeconfig)) as client:
        reflector = Reflector(client, View(), BY_KIND[COLLECTION], cluster.shows, settings)
        task = asyncio.create_task(reflector.run())
        async with asyncio.timeout(10):
            while restarts("broken") == before:  # noqa: ASYNC110 - a counter cannot wake anybody
                await asyncio.sleep(0.02)
        assert not task.done()
        task.cancel()
