"""A control plane with the chart installed, and operators with its rights."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.support.child_process import ChildProcess, ServerError
from tests.support.control_plane import ControlPlane, free_port
from tests.support.facade import FacadeThread
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import KEYS, NAMESPACE, SHOWS, install
from tests.support.node_labeller import USER as SANDBOX
from tests.support.waiting import wait_for

from onair_api.settings import GatewaySettings, IngestSettings

OPERATOR, API = (f"system:serviceaccount:{NAMESPACE}:onair-{each}" for each in ("operator", "api"))
ACCOUNTS = (OPERATOR, API, SANDBOX)


@pytest.fixture(scope="module")
def own_plane() -> Iterator[ControlPlane]:
    """A control plane per module, since the chart has cluster-scoped objects."""
    try:
        with ControlPlane(audited=ACCOUNTS) as plane:
            yield plane
    except ServerError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def plane_client(own_plane: ControlPlane) -> Iterator[httpx.Client]:
    with own_plane.client() as client:
        yield client


@pytest.fixture(scope="module")
def installed(own_plane: ControlPlane, plane_client: httpx.Client) -> ControlPlane:
    """Installs the chart with its default values."""
    install(own_plane)
    wait_for(lambda: is_served(plane_client, "projects.onair.dev"), "projects served", 60)
    return own_plane


@pytest.fixture
def installed_facade(installed: ControlPlane) -> Iterator[FacadeThread]:
    """A facade with the rights of its service account."""
    gateways = [GatewaySettings(name="onair-ingest-0", url="http://127.0.0.1:9")]
    ingest = IngestSettings(found=True, gateways=gateways)
    rights = installed.kubeconfig_for(API)
    with FacadeThread(rights, SHOWS, NAMESPACE, ingest=ingest, keys_namespace=KEYS) as installed_facade:
        yield installed_facade


@pytest.fixture
def start_operator(
    installed: ControlPlane, plane_client: httpx.Client, tmp_path: Path
) -> Iterator[Callable[[], ChildProcess]]:
    """Runs operators as their pods would: with the chart's configuration and service account."""
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/onair-operator"
    config, account = tmp_path / "config.yaml", installed.kubeconfig_for(OPERATOR)
    with ExitStack() as running:

        def start() -> ChildProcess:
            config.write_text(plane_client.get(path).raise_for_status().json()["data"]["config.yaml"])
            variables = {
                "ONAIR_CONFIG": str(config),
                "ONAIR_LOG_LEVEL": "DEBUG",
                "KUBECONFIG": str(account),
                "ONAIR_HEALTH_PORT": str(port := free_port()),
            }
            process = ChildProcess(
                [sys.executable, "-m", "onair_operator"], tmp_path / f"operator-{port}.log", variables
            )
            running.callback(process.stop)
            return process

        yield start
