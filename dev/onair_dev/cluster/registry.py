"""A local container registry: pods pull `localhost:<port>/onair/...`, pushes skip existing images."""

import threading
import time
import urllib.error
import urllib.request

from onair_dev.cluster import local_http
from onair_dev.cluster.images import Image, ensure_image
from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import REGISTRY_CONTAINER, REGISTRY_PORT
from onair_dev.subprocesses import output_of, pause, succeeds

VOLUME = "onair-registry"
HOST = f"localhost:{REGISTRY_PORT}"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
START_TIMEOUT_S = 30
_STARTING = threading.Lock()
"""Images are pushed while the cluster is created: both tasks need the registry."""


def ensure_registry(current: Step) -> None:
    """Starts the registry; recreates it if its image or port has changed. The data is in a volume."""
    with _STARTING:
        if not responds():
            _start(current)


def _start(current: Step) -> None:
    wanted, _ = ensure_image(current, "registry")
    inspected = "{{.Config.Image}} {{(index (index .HostConfig.PortBindings `5000/tcp`) 0).HostPort}}"
    existing = output_of(["docker", "inspect", "--format", inspected, REGISTRY_CONTAINER])
    if existing != f"{wanted.reference} {REGISTRY_PORT}":
        output_of(["docker", "rm", "--force", REGISTRY_CONTAINER])
        publish = f"127.0.0.1:{REGISTRY_PORT}:5000"
        create = ["docker", "create", "--name", REGISTRY_CONTAINER, "--publish", publish]
        current.run(
            "creating the registry",
            "registry",
            [*create, "--volume", f"{VOLUME}:/var/lib/registry", wanted.reference],
        )
    current.run(
        "starting the registry",
        "registry",
        ["docker", "start", REGISTRY_CONTAINER],
        remedy=f"if port {REGISTRY_PORT} is in use, choose another with ONAIR_REGISTRY_PORT",
    )
    deadline = time.monotonic() + START_TIMEOUT_S
    while not responds():
        if time.monotonic() > deadline:
            raise Failed(f"no registry responds on {HOST}", f"docker logs {REGISTRY_CONTAINER}")
        pause(0.1)


def connect_to(network: str) -> None:
    """Connects the registry to the nodes' network, if its host name is its container's name."""
    if network not in output_of(
        ["docker", "inspect", "--format", "{{.NetworkSettings.Networks}}", REGISTRY_CONTAINER]
    ):
        output_of(["docker", "network", "connect", network, REGISTRY_CONTAINER])


def responds() -> bool:
    """Whether a registry responds on our port."""
    return head("/v2/", "*/*")


def head(path: str, accept: str) -> bool:
    """Whether a HEAD request to the registry succeeds."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{REGISTRY_PORT}{path}", method="HEAD", headers={"Accept": accept}
    )
    try:
        with local_http.OPENER.open(request, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False


def reference_for_pods(image: Image) -> str:
    """Returns the name by which pods refer to an image."""
    return f"{HOST}/{image.reference}"


def push(current: Step, image: Image) -> None:
    """Pushes an image unless the registry has its tag."""
    if head(f"/v2/{image.repository}/manifests/{image.tag}", MANIFEST):
        return
    target = reference_for_pods(image)
    if not succeeds(["docker", "tag", image.reference, target]):
        raise Failed(f"{image.reference} does not exist", "run `make images`")
    current.run(f"pushing {image.name}", f"push-{image.name}", ["docker", "push", target])
    output_of(["docker", "image", "rm", "--no-prune", target])
