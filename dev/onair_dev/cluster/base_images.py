"""Images that come from outside where they can be pulled, and from packages and modules where not."""

import json
import shutil
import time
from pathlib import Path

from onair_dev.commands import succeeds
from onair_dev.failures import Failed
from onair_dev.progress import Step
from onair_dev.settings import CACHE, KIND_NODE, KIND_NODE_OUT, NODE_BUILT

BASE = "debian:bookworm-slim"
NODE_PUBLIC = "kindest/node:v1.34.0"
OUTCOMES = CACHE / "pulls.json"
ASK_AGAIN_S = 7 * 24 * 3600


def has_image(name: str) -> bool:
    """Whether the engine holds this image."""
    return succeeds(["docker", "image", "inspect", "--format", "{{.Id}}", name])


def can_pull(image: str) -> bool:
    """Whether the engine has the image, or its registry answers. A refusal is remembered for a week."""
    if has_image(image):
        return True
    outcomes = _refusals()
    if time.time() - outcomes.get(image, 0) < ASK_AGAIN_S:
        return False
    if succeeds(["docker", "manifest", "inspect", image], timeout_s=20):
        return True
    _remember_refusal(image)
    return False


def pull(current: Step, image: str) -> bool:
    """Whether the engine has the image or could pull it."""
    if has_image(image):
        return True
    current.doing = f"asking for {image}"
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


def _refusals() -> dict[str, float]:
    known: dict[str, float] = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    return known


def _remember_refusal(image: str) -> None:
    write(OUTCOMES, json.dumps({**_refusals(), image: time.time()}))


def write(path: Path, text: str) -> None:
    """Replaces a file at once, so that an interruption leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.replace(path)


def base_task(current: Step) -> None:
    """The base of our images."""
    if has_image(BASE):
        current.outcome = "there"
    elif not pull(current, BASE):
        build(current, f"making {BASE} from packages", "base")
    current.detail = BASE


def node_os_task(current: Step) -> None:
    """The system of a node image, without Kubernetes."""
    build(current, "making a node's system", "os")
    current.detail = "Debian, systemd, containerd"


def node_image_task(current: Step) -> None:
    """A node image for kind: the public one, or one made of what was built before."""
    if pull(current, NODE_PUBLIC):
        current.detail = NODE_PUBLIC
        return
    build(current, "making a node image", "system", "node")
    current.detail = NODE_BUILT


def node_image() -> str:
    """The name of the node image that is there."""
    return NODE_PUBLIC if has_image(NODE_PUBLIC) else NODE_BUILT


def build(current: Step, doing: str, *steps: str) -> None:
    """Runs steps of images/kind-node/build; what exists is skipped."""
    if not shutil.which("mmdebstrap") and "base" in steps:
        raise Failed(
            f"{BASE} cannot be pulled, and mmdebstrap, which would make it, was not found",
            "let Docker reach a registry, or use a Debian machine as root",
        )
    current.run(
        doing,
        f"kind-node-{steps[-1]}",
        [KIND_NODE / "build", *steps],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT)},
        remedy="see images/kind-node/README.md",
    )
