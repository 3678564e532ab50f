"""`python -m onair_api` as the container runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.control_plane import free_port
from tests.support.facade import StoredResources
from tests.support.waiting import wait_for


@pytest.fixture
def config(tmp_path: Path, resources: StoredResources) -> Path:
    path = tmp_path / "config.yaml"
    settings = {
        "listen": {"host": "127.0.0.1", "port": free_port()},
        "showNamespace": resources.shows,
        "releaseNamespace": resources.release,
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
