"""Every command of the chart's notes in the local cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.chart_notes import commands_of_notes
from tests.support.cluster import LocalCluster
from tests.support.control_plane import free_port
from tests.support.documented_commands import ROOT, run

CASES: dict[str, tuple[str | Path, ...]] = {"default": (), "local": ("-f", ROOT / "dev/values.yaml")}
FORWARDED = "until curl -sf $ONAIR_URL/readyz; do sleep 0.1; done"


@pytest.mark.parametrize("case", CASES)
def test_every_command_of_the_notes_succeeds(case: str, cluster: LocalCluster, tmp_path: Path) -> None:
    commands = commands_of_notes(cluster.kubeconfig_path, *CASES[case])
    if case == "default":  # its port is the one that the local cluster's interface has here
        port = str(free_port())
        commands = [command.replace("8080", port) for command in commands]
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p) || true' EXIT"]
    for command in commands:
        background = command.endswith("&")
        lines.append(command.removesuffix("&") + " >port-forward.log 2>&1 &" if background else command)
        lines += [FORWARDED] * command.startswith("export ONAIR_URL")
    try:
        printed = run("\n".join(lines), tmp_path, {}, timeout_s=120)
        assert '{"accessToken":' in printed
    finally:
        cluster.delete_collection("sunday-service")
