"""Base images: pulled if possible, otherwise built from packages and modules."""

import json
import shutil
import time
from pathlib import Path

from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import CACHE, KIND_NODE, KIND_NODE_OUT, NODE_BUILT, NODE_PUBLIC
from onair_dev.subprocesses import output_of, succeeds

BASE = "debian:bookworm-slim"
PACKAGES_OF = CACHE / "packages-of"
REFUSALS = CACHE / "pulls.json"
RETRY_AFTER_S = 3600


def has_image(name: str) -> bool:
    """Whether the engine has this image; an empty one, which a failed import leaves, is none."""
    return output_of(["docker", "image", "inspect", "--format", "{{.Size}}", name]).strip() not in ("", "0")


def can_pull(image: str) -> bool:
    """Whether the engine has the image or its registry responds. A refusal is remembered for an hour."""
    if has_image(image):
        return True
    # A refusal of a time to come was stamped by a clock that was ahead
    if 0 <= time.time() - _refusals().get(image, 0) < RETRY_AFTER_S:
        return False
    if succeeds(["docker", "manifest", "inspect", image], timeout_s=20):
        return True
    _remember_refusal(image)
    return False


def pull(current: Step, image: str) -> bool:
    """Pulls an image unless the engine has it; returns whether it is available."""
    if has_image(image):
        return True
    current.doing = f"looking for {image}"
    if not can_pull(image):
        return False
    name = image.replace("/", "-").replace(":", "-")
    try:
        current.run(f"pulling {image}", f"pull-{name}", ["docker", "pull", image])
    except Failed:
        current.doing, current.log = "", None
        _remember_refusal(image)
        return False
    return True


def has_public_node() -> bool:
    """Whether nodes are of kind's public image: the engine has it, or can pull it and none was built.

    One that was built stays once the registry responds again: for another one, the cluster would be deleted.
    """
    return has_image(NODE_PUBLIC) or (not has_image(NODE_BUILT) and can_pull(NODE_PUBLIC))


def _refusals() -> dict[str, float]:
    known: dict[str, float] = json.loads(REFUSALS.read_text()) if REFUSALS.exists() else {}
    return known


def _remember_refusal(image: str) -> None:
    write(REFUSALS, json.dumps({**_refusals(), image: time.time()}))


def write(path: Path, text: str) -> None:
    """Replaces a file atomically: an interruption leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.replace(path)


def base_task(current: Step) -> None:
    """Pulls or builds the base of our images."""
    if has_image(BASE):
        current.outcome = "exists"
    elif not pull(current, BASE):
        build(current, f"building {BASE} from packages", "base")
    current.detail = BASE


def packages_of() -> str:
    """Names when new packages were last requested for the images; empty: never."""
    return PACKAGES_OF.read_text() if PACKAGES_OF.exists() else ""


def refresh_task(current: Step) -> None:
    """Pulls or builds the base again, so that every image on top of it gets the newest packages."""
    if succeeds(["docker", "manifest", "inspect", BASE], timeout_s=20):
        current.run(f"pulling {BASE}", "pull-base", ["docker", "pull", BASE])
        # The same base as before would bring the layers that were built on it
        relabel = f"docker build -q -t {BASE} --label packages-of={time.time()} - <<< 'FROM {BASE}'"
        current.run(f"labelling {BASE}", "label-base", ["bash", "-c", relabel])
    else:
        build(current, f"building {BASE} from packages", "base", again=True)
    write(PACKAGES_OF, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    current.detail = BASE


def node_os_task(current: Step) -> None:
    """Builds the operating system of the node image, without Kubernetes."""
    build(current, "building the node's operating system", "os")
    current.detail = "Debian, systemd, containerd"


def node_image_task(current: Step) -> None:
    """Pulls kind's public node image, or builds one from the programs and system built before."""
    if has_public_node() and pull(current, NODE_PUBLIC):
        current.detail = NODE_PUBLIC
        return
    build(current, "building a node image", "system", "node")
    current.detail = NODE_BUILT


def node_image() -> str:
    """Returns the name of the available node image."""
    return NODE_PUBLIC if has_image(NODE_PUBLIC) else NODE_BUILT


def build(current: Step, doing: str, *steps: str, again: bool = False) -> None:
    """Runs steps of images/kind-node/build; existing outputs are skipped, unless `again`."""
    if not shutil.which("mmdebstrap") and "base" in steps:
        raise Failed(
            f"{BASE} cannot be pulled, and mmdebstrap, which would build it, was not found",
            "give Docker access to a registry, or use a Debian machine as root",
        )
    current.run(
        doing,
        f"kind-node-{steps[-1]}",
        [KIND_NODE / "build", *steps],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT), "FORCE": "1" if again else ""},
        remedy="see images/kind-node/README.md",
    )
