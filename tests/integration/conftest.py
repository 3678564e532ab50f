"""What integration tests stand on: a real API server with our CRDs, a namespace each, a real Redis."""

import itertools
import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.control_plane import (
    ControlPlane,
    ControlPlaneError,
    wait_until,
)
from tests.support.redis_server import RedisServer

MANIFESTS = Path(__file__).parents[2] / "crds/manifests"
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACE_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """etcd and kube-apiserver; one pair for the whole run."""
    try:
        plane = ControlPlane()
        plane.start()
    except ControlPlaneError as error:
        pytest.fail(str(error), pytrace=False)
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def kubeconfig(control_plane: ControlPlane) -> Path:
    """The administrator's kubeconfig."""
    return control_plane.kubeconfig


@pytest.fixture(scope="session")
def admin(control_plane: ControlPlane) -> Iterator[httpx.Client]:
    """An HTTP client that may do everything, e.g. `admin.get("/api/v1/namespaces")`."""
    with control_plane.client() as client:
        yield client


@pytest.fixture(scope="session")
def crds(admin: httpx.Client) -> None:
    """Our resource definitions, applied and served."""
    manifests = sorted(MANIFESTS.glob("*.yaml"))
    if not manifests:
        pytest.fail(f"{MANIFESTS} has no *.yaml: run `make generate`", pytrace=False)
    names = []
    for manifest in manifests:
        for document in yaml.safe_load_all(manifest.read_text()):
            names.append(document["metadata"]["name"])
            answer = admin.patch(
                f"{CRD_PATH}/{names[-1]}",
                params={"fieldManager": "tests", "force": "true"},
                headers={"Content-Type": "application/apply-patch+yaml"},
                json=document,
            )
            if answer.is_error:
                message = answer.json().get("message", answer.text)
                pytest.fail(f"{manifest.name} was refused: {message}", pytrace=False)
    for name in names:
        wait_until(lambda name=name: is_served(admin, name), f"CRD {name} served")  # type: ignore[misc]


def is_served(admin: httpx.Client, name: str) -> bool:
    """Whether a CRD is Established and its list answers (the second comes a little later)."""
    definition = admin.get(f"{CRD_PATH}/{name}").json()
    conditions = definition.get("status", {}).get("conditions", [])
    if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
        return False
    spec = definition["spec"]
    versions = [version["name"] for version in spec["versions"] if version["served"]]
    return all(
        admin.get(
            f"/apis/{spec['group']}/{version}/{spec['names']['plural']}", params={"limit": 1}
        ).is_success
        for version in versions
    )


@pytest.fixture
def namespace(admin: httpx.Client) -> Iterator[str]:
    """A namespace of this test's own. Nothing empties it afterwards: there is no controller manager."""
    name = f"test-{next(NAMESPACE_NUMBERS)}-{secrets.token_hex(3)}"
    admin.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
    yield name
    admin.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A real Redis; who stops it must start it again."""
    try:
        server = RedisServer(tmp_path_factory.mktemp("redis"))
        server.start()
    except ControlPlaneError as error:
        pytest.fail(str(error), pytrace=False)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis_url(redis_server: RedisServer) -> str:
    """The address of a real Redis, `redis://127.0.0.1:<port>/0`."""
    return redis_server.url
