"""The commands of the chart's notes and of its examples on a real API server, as far as they need no pods.

The test of the same name in `e2e` runs those of the notes on a cluster.
"""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from tests.support.chart_notes import commands_of_notes, commands_of_values, notes
from tests.support.control_plane import ControlPlane
from tests.support.documented_commands import ROOT, run
from tests.support.facade import FacadeThread
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import CHART, KEYS, NAMESPACE, SHOWS, install
from tests.support.waiting import wait_for

NEEDS_PODS = re.compile(r"kubectl (wait|port-forward)|export ONAIR_URL")
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))
VALUES = [each for each in EXAMPLES if each.parent.name == "values"]
NO_KEY = ("--set", "demo.apiKey.enabled=false")
TOKEN = "/live/v2/authentication/token"
PROMETHEUS_KINDS = ("PodMonitor", "PrometheusRule")


def script(commands: list[str]) -> str:
    return "\n".join(["set -euo pipefail", *commands])


@pytest.mark.parametrize(
    "options", [(), ("-f", ROOT / "dev/values.yaml"), NO_KEY], ids=["default", "local", "own key"]
)
def test_every_command_of_the_notes_that_needs_no_pod_succeeds(
    installed: ControlPlane, tmp_path: Path, options: tuple[str | Path, ...]
) -> None:
    commands = [c for c in commands_of_notes(installed.kubeconfig, *options) if not NEEDS_PODS.match(c)]
    assert len(commands) >= 5
    with FacadeThread(installed.kubeconfig, SHOWS, NAMESPACE, keys_namespace=KEYS) as facade:
        shell = {"KUBECONFIG": str(installed.kubeconfig), "ONAIR_URL": facade.url}
        printed = run(script([*commands, "echo", "echo key=${KEY-}"]), tmp_path, shell)
        assert "project.onair.dev/sunday-1100" in printed
        if options == NO_KEY:
            key = printed.rpartition("key=")[2].strip()
            response = facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "me"})
            assert response.json()["accessToken"]
        else:
            assert '{"accessToken":' in printed


RTC = ROOT / "examples/values/rtc.yaml"
OPEN_ROOMS = "Every service may publish into any channel of the rooms of studio"
NO_RULES = "encoder.network.rules is false"


def test_the_notes_say_what_protection_is_not_there(installed: ControlPlane) -> None:
    said = notes(installed.kubeconfig)
    assert OPEN_ROOMS not in said
    assert NO_RULES not in said
    assert NO_RULES in notes(installed.kubeconfig, "--set", "encoder.network.rules=false")
    assert OPEN_ROOMS in notes(installed.kubeconfig, "-f", RTC)
    for bound in ("services={news}", "channelPrefix=news-"):
        assert OPEN_ROOMS not in notes(
            installed.kubeconfig,
            "-f",
            RTC,
            "--set",
            f"rtc.providers[0].appId=studio,rtc.providers[0].{bound}",
        )


@pytest.fixture(scope="module")
def prometheus_operator(plane_client: httpx.Client) -> None:
    """The kinds of the Prometheus operator that the chart makes objects of."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definitions = [f"{kind.lower()}s.monitoring.coreos.com" for kind in PROMETHEUS_KINDS]
    for kind, name in zip(PROMETHEUS_KINDS, definitions, strict=True):
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": "monitoring.coreos.com",
                "names": {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower()},
                "scope": "Namespaced",
                "versions": [version],
            },
        }
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        plane_client.post(path, json=definition).raise_for_status()
    wait_for(lambda: all(is_served(plane_client, each) for each in definitions), "they are served", 60)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_each_example_is_applied(
    installed: ControlPlane, prometheus_operator: None, tmp_path: Path, file: Path
) -> None:
    """Manifests by `kubectl apply`, values by what their comments say, else by an upgrade."""
    shell = {"KUBECONFIG": str(installed.kubeconfig)}
    path = file.relative_to(ROOT)
    if file not in VALUES:
        assert "unchanged" in run(script([f"kubectl apply -f {path}"] * 2), tmp_path, shell)
        return
    upgrade = f"helm upgrade onair charts/onair -n onair-system --reset-then-reuse-values -f {path}"
    commands = [command.replace("…", "abc") for command in commands_of_values(file)] or [upgrade]
    assert upgrade in commands
    run(script(commands), tmp_path, shell)
    install(installed, CHART, "--reset-values")
