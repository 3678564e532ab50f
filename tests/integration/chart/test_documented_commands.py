"""The commands of README and guides on a real API server, as far as they need no show on air.

The test of the same name in `e2e` runs all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.control_plane import ControlPlane
from tests.support.documented_commands import GUIDE, README, ROOT, TESTED, blocks, commands, run, script
from tests.support.facade import FacadeThread
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import KEYS, NAMESPACE, SHOWS, kubectl
from tests.support.waiting import wait_for

from onair_crds.contract.inside_addresses import InsideRules

NEEDS_A_SHOW = re.compile(
    r"make|eval|kubectl wait|until|onair GET .*/snapshot|.*broadcastUpdated|(KEY|CAMERA)=|ffmpeg|kill",
    re.DOTALL,
)
"""What waits for a show, or shows one, what sends to one, and what asks for the local cluster."""
INSTALLS = re.compile(r"helm install")
API_KEY = ("secret", "onair-demo-api-key", "-o", "go-template={{.data.apiKey | base64decode}}")
"""The key that the demo installs."""
CONFIGURATION = ("configmap", "onair-api", "-o", 'go-template={{index .data "config.yaml"}}')


def needs_more(command: str) -> bool:
    return bool(NEEDS_A_SHOW.match(command) or INSTALLS.match(command))


@pytest.fixture(scope="module")
def shell(own_plane: ControlPlane, plane_client: httpx.Client) -> Iterator[Mapping[str, str]]:
    """The variables of a shell in which the chart has been installed as the README says."""
    (install,) = [c for block in blocks(README) for c in commands(block) if INSTALLS.match(c)]
    variables = {"KUBECONFIG": str(own_plane.kubeconfig)}
    run(install, ROOT, variables)
    wait_for(lambda: is_served(plane_client, "projects.onair.dev"), "projects served", 60)
    installed = yaml.safe_load(kubectl(own_plane, "get", "-n", NAMESPACE, *CONFIGURATION))
    inside = InsideRules.model_validate(installed["inside"])
    with FacadeThread(own_plane.kubeconfig, SHOWS, NAMESPACE, inside=inside, keys_namespace=KEYS) as facade:
        url = str(facade.http.base_url).rstrip("/")
        yield {
            **variables,
            "ONAIR_URL": url,
            "ONAIR_API_KEY": kubectl(own_plane, "get", "-n", NAMESPACE, *API_KEY),
        }


@pytest.mark.parametrize("page", TESTED, ids=str)
def test_every_command_that_needs_no_show_on_air_succeeds(
    page: Path, shell: Mapping[str, str], tmp_path: Path
) -> None:
    printed = run(script(page, needs_more), tmp_path, shell)
    assert "$ kubectl apply -f examples/" in printed
    assert "$ TOKEN=$(curl" in printed


def test_what_the_guide_deletes_is_gone(shell: Mapping[str, str], tmp_path: Path) -> None:
    run(script(GUIDE, needs_more), tmp_path, shell)
    left = run(f"kubectl get onair -n {SHOWS} -o name", tmp_path, shell)
    assert "sunday" not in left
    assert "destination.onair.dev/second" in left, "which its project's deletion takes along"


def test_a_failing_command_is_noticed(shell: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="single resource type"):
        run("kubectl get projects,destinations -n shows --watch", tmp_path, shell)
