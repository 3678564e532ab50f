"""Images that come from outside where they can be pulled, and from packages and modules where not."""

import json
import time
from pathlib import Path

from progress import Failed, Step, output_of, run_logged, succeeds
from settings import CACHE, KIND_NODE, KIND_NODE_OUT

BASE = "debian:bookworm-slim"
NODE_PUBLIC = "kindest/node:v1.34.0"
NODE_BUILT = "kind-node:v1.34.4"
OUTCOMES = CACHE / "pulls.json"
ASK_AGAIN_S = 7 * 24 * 3600


def has_image(name: str) -> bool:
    """Whether the engine holds this image."""
    return succeeds(["docker", "image", "inspect", "--format", "{{.Id}}", name])


def pull(current: Step, image: str) -> bool:
    """Whether the engine has the image or could pull it. A refusal is remembered for a week."""
    if has_image(image):
        return True
    outcomes: dict[str, float] = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    if time.time() - outcomes.get(image, 0) < ASK_AGAIN_S:
        return False
    current.doing = f"asking for {image}"
    if succeeds(["docker", "manifest", "inspect", image], timeout_s=20):
        name = image.replace("/", "-").replace(":", "-")
        try:
            run_logged(current, f"pulling {image}", f"pull-{name}", ["docker", "pull", image])
        except Failed:
            current.doing, current.log = "", None
        else:
            return True
    outcomes[image] = time.time()
    write(OUTCOMES, json.dumps(outcomes))
    return False


def write(path: Path, text: str) -> None:
    """Replaces a file at once, so that an interruption leaves the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.replace(path)


def ensure_base(current: Step) -> None:
    """Makes sure of the base of our images."""
    if not pull(current, BASE):
        build(current, f"making {BASE} from packages", "base")


def ensure_node(current: Step) -> str:
    """Returns the name of a node image for kind."""
    if pull(current, NODE_PUBLIC):
        return NODE_PUBLIC
    build(
        current, "making a node image (12 minutes the first time)", "base", "programs", "os", "system", "node"
    )
    return NODE_BUILT


def build(current: Step, doing: str, *steps: str) -> None:
    """Runs steps of images/kind-node/build; what exists is skipped."""
    output_of([KIND_NODE / "host"], env={"KIND_NODE_OUT": str(KIND_NODE_OUT)}, timeout_s=300)
    run_logged(
        current,
        doing,
        f"kind-node-{steps[-1]}",
        [KIND_NODE / "build", *steps],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT)},
        try_="see images/kind-node/README.md",
    )
