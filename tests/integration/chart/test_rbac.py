"""Tests the chart's RBAC: each program has the rights that it needs, and no others.

Each right is taken away while the programs run on a real API server, and is missed: a request is refused, and
somebody notices. That no right is lacking is read from the API server's audit log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.fixtures.control_plane import is_served
from tests.support.helm import CHART, KEYS, NAMESPACE, ROOT, SHOWS, install, kubectl, render
from tests.support.rights.every_operation import use_every_operation
from tests.support.rights.granted import Right, granted
from tests.support.rights.installation import Installation
from tests.support.rights.installed_rights import is_allowed
from tests.support.rights.need import prove
from tests.support.rights.needs.table import API, LAST, NEEDS, OPERATOR
from tests.support.rights.objects import PODS, pod_of, wait
from tests.support.rights.quick_retries import quick_retries
from tests.support.rights.values import EVERYTHING, EXISTING, EXISTING_ROOMS, SMALLEST
from tests.support.waiting import wait_for

from onair_api.settings import RoomSettings

DENIED = [
    f"{OPERATOR} get namespaces/kube-system",
    f"{OPERATOR} list namespaces",
    f"{OPERATOR} get projects.onair.dev in default",
    f"{OPERATOR} watch projects.onair.dev in default",
    f"{OPERATOR} list destinations.onair.dev in default",
    f"{OPERATOR} patch destinations.onair.dev in default",
    f"{OPERATOR} patch collections.onair.dev in {SHOWS}",
    f"{OPERATOR} get layouts.onair.dev in {SHOWS}",
    f"{OPERATOR} create projects.onair.dev in {SHOWS}",
    f"{OPERATOR} delete projects.onair.dev in {SHOWS}",
    f"{OPERATOR} create pods/exec in {SHOWS}",
    f"{OPERATOR} create pods in {NAMESPACE}",
    f"{OPERATOR} list pods in default",
    f"{OPERATOR} list pods in {NAMESPACE}",
    f"{OPERATOR} delete pods/onair-redis-0 in {NAMESPACE}",
    f"{OPERATOR} list secrets in {NAMESPACE}",
    f"{OPERATOR} get secrets/onair-signing-key in {KEYS}",
    f"{OPERATOR} list secrets in {KEYS}",
    f"{OPERATOR} get services in {NAMESPACE}",
    f"{OPERATOR} patch configmaps/onair-api in {NAMESPACE}",
    f"{OPERATOR} get secrets in kube-system",
    f"{OPERATOR} update leases.coordination.k8s.io/onair-other in {NAMESPACE}",
    f"{OPERATOR} update leases.coordination.k8s.io in kube-node-lease",
    f"{OPERATOR} patch nodes",
    f"{API} create secrets in {NAMESPACE}",
    f"{API} list secrets in {NAMESPACE}",
    f"{API} get secrets/onair-operator-signing in {NAMESPACE}",
    f"{API} patch configmaps/onair-ingest-addresses in {NAMESPACE}",
    f"{API} get configmaps/onair-ingest-addresses in {NAMESPACE}",
    f"{API} list configmaps in {NAMESPACE}",
    f"{API} patch projects.onair.dev/status in {SHOWS}",
    f"{API} patch secrets in {SHOWS}",
    f"{API} list pods in {SHOWS}",
    f"{API} delete secrets in {KEYS}",
    f"{API} list secrets in kube-system",
    f"{API} list nodes",
    f"{API} list projects.onair.dev in default",
]
"""What is near at hand, and would give much."""


def rights_of(values: tuple[str, ...]) -> set[str]:
    return {str(each) for each in granted(render(*values))}


def own(values: tuple[str, ...]) -> list[str]:
    """The rights that values bring beside EVERYTHING, in the order of the table."""
    rights = rights_of(values) - (rights_of(EVERYTHING) if values != EVERYTHING else {LAST})
    return [each for each in NEEDS if each in rights]


@pytest.mark.parametrize(
    "values", [EVERYTHING, SMALLEST, EXISTING], ids=["everything", "smallest", "existing"]
)
def test_no_right_is_given_twice_nor_is_any_to_all_kinds_or_all_verbs(values: tuple[str, ...]) -> None:
    rights = granted(render(*values))
    assert [each for each in rights if "*" in (each.group, each.resource, each.verb)] == []
    assert [each for each in rights if any(other.covers(each) for other in rights - {each})] == []


def test_each_right_of_the_chart_has_its_need_in_the_table() -> None:
    assert rights_of(EVERYTHING) | rights_of(SMALLEST) | rights_of(EXISTING) == NEEDS.keys()


@pytest.fixture(scope="module")
def installation(
    own_plane: ControlPlane, plane_client: httpx.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """One with everything that brings rights; what comes later in this file changes its values."""
    install(own_plane, CHART, *EVERYTHING)
    wait_for(lambda: is_served(plane_client, "projects.onair.dev"), "projects served", 60)
    folder = tmp_path_factory.mktemp("installation")
    with quick_retries(), closing(Installation(own_plane, plane_client, folder, *EVERYTHING)) as installation:
        yield installation


@pytest.mark.parametrize("right", DENIED)
def test_no_program_may(right: str, installation: Installation) -> None:
    assert not is_allowed(installation.admin, Right.named(right))


@pytest.mark.parametrize("right", own(EVERYTHING))
def test_somebody_misses(right: str, installation: Installation) -> None:
    prove(installation, right, NEEDS[right])


def test_no_right_is_missing(installation: Installation) -> None:
    installation.operate()
    kubectl(installation.plane, "apply", "-f", ROOT / "examples")
    use_every_operation(installation)

    def pods() -> list[str]:
        return [
            each["spec"]["priorityClassName"]
            for each in installation.listed(PODS)
            if "sunday" in each["metadata"]["name"]
        ]

    wait("the show of the examples has a pod", pods)
    assert pods() == ["onair-encoder"]
    assert installation.rights.missed() == []


def use_it(installation: Installation) -> None:
    """Has each program do what it does."""
    use_every_operation(installation)
    installation.operate()
    show = installation.show()
    wait("the show has a pod", lambda: installation.exists(pod_of(show)))


@pytest.fixture(scope="module")
def smallest(installation: Installation) -> Installation:
    installation.use(*SMALLEST, keys=NAMESPACE, rooms=RoomSettings())
    return installation


@pytest.mark.parametrize("right", own(SMALLEST))
def test_somebody_misses_in_the_smallest_installation(right: str, smallest: Installation) -> None:
    prove(smallest, right, NEEDS[right])


def test_no_right_is_missing_in_the_smallest_installation(smallest: Installation) -> None:
    use_it(smallest)
    assert smallest.rights.missed() == []


@pytest.fixture(scope="module")
def existing(installation: Installation) -> Installation:
    installation.use(*EXISTING, rooms=EXISTING_ROOMS)
    return installation


@pytest.mark.parametrize("right", own(EXISTING))
def test_somebody_misses_where_rooms_and_load_balancers_exist(right: str, existing: Installation) -> None:
    prove(existing, right, NEEDS[right])


def test_no_right_is_missing_where_rooms_and_load_balancers_exist(existing: Installation) -> None:
    use_it(existing)
    assert existing.rights.missed() == []


def test_a_namespace_that_is_deleted_keeps_no_project_of_an_operator_that_lost_its_rights(
    installation: Installation,
) -> None:
    prove(installation, LAST, NEEDS[LAST])
