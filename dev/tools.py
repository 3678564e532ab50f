"""The programs that the local environment needs: those of this machine, or built from their modules."""

import functools
import os
import re
import shutil
import sys
from pathlib import Path

from engine import ensure_engine
from progress import Failed, Step, last_words, output_of, run_logged, step
from settings import CACHE, KIND_NODE, KIND_NODE_OUT

BUILT = KIND_NODE_OUT / "bin"
VERSION_COMMANDS = {
    "kind": ["version", "-q"],
    "helm": ["version", "--short"],
    "kubectl": ["version", "--client", "-o", "yaml"],
}
CLUSTER_TOOLS = ("kind", "helm", "kubectl")
CONTROL_PLANE = ("etcd", "kube-apiserver")


def find(name: str) -> Path | None:
    """The program of the cache, of `$KUBEBUILDER_ASSETS` or of PATH; None when there is none that runs."""
    folders = [BUILT, Path(os.environ.get("KUBEBUILDER_ASSETS", "/nonexistent"))]
    candidates = [folder / name for folder in folders if os.access(folder / name, os.X_OK)]
    if found := shutil.which(name):
        candidates.append(Path(found))
    for path in candidates:
        if output_of([path, *VERSION_COMMANDS.get(name, ["--version"])], timeout_s=20):
            return path
    return None


def ensure(current: Step, names: tuple[str, ...]) -> None:
    """Builds the programs that are missing, and with them what a node image will need."""
    missing = [name for name in names if not find(name)]
    if not missing:
        current.outcome = "found"
        return
    if not shutil.which("go"):
        raise Failed(f"{', '.join(missing)} not found", "install them, or Go to have them built here")
    run_logged(
        current,
        f"building {', '.join(missing)} (some minutes)",
        "tools",
        [KIND_NODE / "build", "programs"],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT), "PROGRAMS": " ".join(missing)},
        try_="read the log; a build goes on where it stopped",
    )


@functools.cache
def program(name: str) -> str:
    """The path of a program that `ensure` made sure of."""
    path = find(name)
    if path is None:
        raise Failed(f"{name} not found", "run `make tools`")
    return str(path)


def version_of(name: str) -> str:
    """Such as `1.34`, for people."""
    text = output_of([program(name), *VERSION_COMMANDS[name]])
    found = re.search(r"v?(\d+\.\d+)", text)
    return found[1] if found else "?"


def tools_step(label: str) -> None:
    """Everything a local cluster needs."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with step(label, "tools") as current:
        docker = ensure_engine(current)
        ensure(current, CLUSTER_TOOLS)
        versions = [f"{name} {version_of(name)}" for name in CLUSTER_TOOLS]
        current.detail = " · ".join([f"docker {docker.rpartition('+')[0] or docker}", *versions])


def control_plane_step(label: str) -> None:
    """What integration tests start: etcd and the API server."""
    with step(label, "control plane") as current:
        ensure(current, CONTROL_PLANE)
        current.detail = " · ".join(CONTROL_PLANE)


if __name__ == "__main__":
    with last_words():
        if "control-plane" in sys.argv:
            control_plane_step("[1/1]")
        else:
            tools_step("[1/2]")
            control_plane_step("[2/2]")
