"""Ports of this machine: by a variable, by the cluster that exists, or as `make help` lists them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onair_dev.settings import PORT_VARIABLES, ROOT

PRINT = "import json; from onair_dev import settings; print(json.dumps([settings.url(), settings.ports()]))"
VARIABLES = {*PORT_VARIABLES.values(), "ONAIR_REGISTRY_PORT"}


def settings_with(cache: Path, **variables: str) -> tuple[str, dict[str, int]]:
    """The URL of the API and all ports, in a process of its own."""
    others = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment = {**others, "PYTHONPATH": str(ROOT / "dev"), "XDG_CACHE_HOME": str(cache), **variables}
    run = [sys.executable, "-c", PRINT]
    printed = subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout
    url, ports = json.loads(printed)
    return url, ports


def test_a_port_that_was_chosen_for_a_cluster_is_its_port_in_later_commands(tmp_path: Path) -> None:
    _, chosen = settings_with(tmp_path, ONAIR_API_PORT="18080", ONAIR_CLUSTER="mine")
    assert chosen.keys() == VARIABLES
    (tmp_path / "onair").mkdir()
    (tmp_path / "onair/mine.ports.json").write_text(json.dumps(chosen))
    assert settings_with(tmp_path, ONAIR_CLUSTER="mine") == ("http://localhost:18080", chosen)
    url, others = settings_with(tmp_path, ONAIR_CLUSTER="mine", ONAIR_API_PORT="28080")
    assert url == "http://localhost:28080"
    assert others == {**chosen, "ONAIR_API_PORT": 28080}
    assert settings_with(tmp_path, ONAIR_CLUSTER="another")[0] == "http://localhost:8080"


@pytest.mark.parametrize("text", ["", "{"])
def test_a_damaged_file_of_ports_is_no_obstacle(text: str, tmp_path: Path) -> None:
    (tmp_path / "onair").mkdir()
    (tmp_path / "onair/onair.ports.json").write_text(text)
    assert settings_with(tmp_path, ONAIR_CLUSTER="onair")[0] == "http://localhost:8080"
