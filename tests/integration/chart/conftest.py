"""A control plane with the chart installed."""

from collections.abc import Iterator

import httpx
import pytest
from tests.support.child_process import ServerError, wait_until
from tests.support.control_plane import ControlPlane
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import install


@pytest.fixture(scope="module")
def own_plane() -> Iterator[ControlPlane]:
    """A control plane per module, since the chart has cluster-scoped objects."""
    try:
        with ControlPlane() as plane:
            yield plane
    except ServerError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def cluster(own_plane: ControlPlane) -> Iterator[httpx.Client]:
    with own_plane.client() as client:
        yield client


@pytest.fixture(scope="module")
def installed(own_plane: ControlPlane, cluster: httpx.Client) -> ControlPlane:
    """Installs the chart with its default values."""
    install(own_plane)
    wait_until(lambda: is_served(cluster, "projects.onair.dev"), "projects served")
    return own_plane
