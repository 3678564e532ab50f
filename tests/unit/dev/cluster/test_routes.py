"""Routes between the nodes of the local cluster, with a docker and a kubectl that print what a test says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[4] / "images/kind-node/routes"
CONTROL_PLANE = "here-control-plane 10.244.0.0/24 172.18.0.2"
WORKER = "here-worker 10.244.1.0/24 172.18.0.3"
WITHOUT_RANGE = "here-worker  172.18.0.3"
WITHOUT_ADDRESS = "here-worker 10.244.1.0/24 "
UNREACHABLE = ""


class Machine:
    """Two nodes run. kubectl lists one of `listings` after the other, and stays with the last."""

    def __init__(self, folder: Path, listings: list[list[str]]) -> None:
        self._folder, self._listings = folder, listings
        programs = folder / "out/bin"
        programs.mkdir(parents=True)
        _write(
            programs / "kubectl",
            f"""
            count=$(cat {folder}/asked 2>/dev/null || echo 0)
            [ "$count" -lt {len(listings) - 1} ] && echo $((count + 1)) > {folder}/asked
            exec cat {folder}/listing-$count""",
        )
        _write(
            programs / "docker",
            f"""
            case $1 in
              ps) printf 'aaa\\nbbb\\n' ;;
              *) echo "$@" >> {folder}/executed ;;
            esac""",
        )
        for number, lines in enumerate(listings):
            if lines != [UNREACHABLE]:
                (folder / f"listing-{number}").write_text("".join(f"{line}\n" for line in lines))

    def run(self, wait_s: int) -> subprocess.CompletedProcess[str]:
        out = self._folder / "out"
        paths = f"{out}/bin:{os.environ['PATH']}"
        environment = {"PATH": paths, "KIND_NODE_OUT": str(out), "ROUTES_WAIT_S": str(wait_s)}
        return subprocess.run(
            ["bash", str(SCRIPT), "here"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def routes(self) -> list[str]:
        executed = self._folder / "executed"
        return executed.read_text().splitlines() if executed.exists() else []


def _write(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/bash\n{text}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    "first",
    [[CONTROL_PLANE], [CONTROL_PLANE, WITHOUT_RANGE], [CONTROL_PLANE, WITHOUT_ADDRESS], [UNREACHABLE], []],
    ids=["not registered", "without a range", "without an address", "API server unreachable", "no node"],
)
def test_a_node_that_is_late_gets_its_routes(tmp_path: Path, first: list[str]) -> None:
    machine = Machine(tmp_path, [first, first, [CONTROL_PLANE, WORKER]])
    assert machine.run(wait_s=50).returncode == 0
    assert machine.routes() == [
        "exec here-control-plane ip route replace 10.244.1.0/24 via 172.18.0.3",
        "exec here-worker ip route replace 10.244.0.0/24 via 172.18.0.2",
    ]


def test_a_node_that_never_registers_is_an_error(tmp_path: Path) -> None:
    machine = Machine(tmp_path, [[CONTROL_PLANE]])
    ended = machine.run(wait_s=0)
    assert ended.returncode == 1
    assert "2 nodes run, but after 0 s not all have registered" in ended.stderr
    assert CONTROL_PLANE in ended.stderr
    assert not machine.routes()
