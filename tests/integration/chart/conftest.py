"""A control plane with the chart installed."""

from collections.abc import Iterator

import httpx
import pytest
from tests.support.child_process import ServerError
from tests.support.control_plane import ControlPlane
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import NAMESPACE, install
from tests.support.node_labeller import USER as SANDBOX
from tests.support.show_pods import encoder_pod, refusal
from tests.support.waiting import wait_for

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
def in_force(installed: ControlPlane, plane_client: httpx.Client) -> None:
    """Waits for the policy of the show namespace, which acts some moments after it was installed."""
    pod = encoder_pod()
    pod["spec"]["containers"][0]["securityContext"]["capabilities"]["add"] = ["NET_ADMIN"]
    wait_for(lambda: refusal(plane_client, pod), "the policy is in force", 60)
