"""A control plane with the chart in it."""

from collections.abc import Iterator

import httpx
import pytest
from tests.support.control_plane import ControlPlane, ControlPlaneError, wait_until
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import install


@pytest.fixture(scope="module")
def own_plane() -> Iterator[ControlPlane]:
    """A control plane of this module's own, since the chart brings objects of the whole cluster."""
    try:
        with ControlPlane() as plane:
            yield plane
    except ControlPlaneError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def cluster(own_plane: ControlPlane) -> Iterator[httpx.Client]:
    with own_plane.client() as client:
        yield client


@pytest.fixture(scope="module")
def installed(own_plane: ControlPlane, cluster: httpx.Client) -> ControlPlane:
    """The chart, installed by one command and no values."""
    install(own_plane)
    wait_until(lambda: is_served(cluster, "projects.onair.dev"), "projects served")
    return own_plane
