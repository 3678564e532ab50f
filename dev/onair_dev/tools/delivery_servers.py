"""The servers that tests deliver to, their network plugin and a guest of benches: built into the cache."""

import hashlib
from pathlib import Path

from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import CACHE, ROOT

MODULES = ROOT / "images/servers"
ROOM_CAMERA = "room-camera"
"""A guest whose camera was encoded beforehand, for benches alone; its source is in its folder."""
PACKAGES = {
    "kube-router": "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
    "livekit-server": "github.com/livekit/livekit-server/cmd/server",
    "toxiproxy-server": "github.com/Shopify/toxiproxy/v2/cmd/server",
    "versitygw": "github.com/versity/versitygw/cmd/versitygw",
    ROOM_CAMERA: ".",
}
OF_OUR_OWN = {ROOM_CAMERA: "github.com/livekit/server-sdk-go/v2"}
"""Modules by which versions of programs are called that are none themselves."""
NETWORK_PLUGIN = "kube-router"
"""Runs in an image of its own (images/kube-router), with which it is built."""
GO_LOCK = ROOT / "requirements/go.txt"
"""Of the compiler, whose standard library is part of every server."""
BUILT = CACHE / "servers"
FIRST_TAGS = {
    "kube-router": "dbd4fbbb00b0",
    "livekit-server": "e0e387ca96a6",
    "toxiproxy-server": "c1f2ec6df65a",
    "versitygw": "3915cbdc08b8",
}
"""Of inputs from which servers were built before the names of their folders had tags."""


def version_of(name: str) -> str:
    """Returns the version that the server's go.mod pins."""
    module = OF_OUR_OWN.get(name) or PACKAGES[name].partition("/cmd/")[0]
    for line in (MODULES / name / "go.mod").read_text().splitlines():
        words = line.split()
        if module in words:
            return words[words.index(module) + 1]
    raise Failed(f"images/servers/{name}/go.mod does not name {module}")


def tag_of(name: str) -> str:
    """Hashes what a server is built from: its module, with all that it requires, and the compiler."""
    digest, folder = hashlib.sha256(), MODULES / name
    for file in (folder / "go.mod", folder / "go.sum", *sorted(folder.glob("*.go")), GO_LOCK):
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def path_of(name: str) -> Path:
    """Returns the path of the program that is built from the present inputs."""
    version, tag = version_of(name), tag_of(name)
    # Caches have programs of these inputs in folders without a tag: nobody has to build them again
    return BUILT / (version if tag == FIRST_TAGS.get(name) else f"{version}-{tag}") / name


def absent() -> list[str]:
    """Returns the servers that are not in the cache."""
    return [name for name in _delivered_to() if not path_of(name).exists()]


def ensure(current: Step, name: str) -> Path:
    """Returns the path of a server; builds it if it is not in the cache."""
    program = path_of(name)
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_suffix(".new")
    build: list[str | Path] = [
        "go",
        "build",
        "-buildvcs=false",
        "-trimpath",
        "-gcflags=all=-dwarf=false",
        "-ldflags",
        "-s -w",
        "-o",
        draft,
        PACKAGES[name],
    ]
    current.run(
        f"building {name}",
        name,
        ["env", "-C", MODULES / name, "CGO_ENABLED=0", *build],
        remedy="read the log; a retry continues the build",
    )
    draft.rename(program)
    return program


def servers_task(current: Step) -> None:
    """Builds all missing servers."""
    if not absent():
        current.outcome = "built before"
    for name in _delivered_to():
        ensure(current, name)
    current.detail = " · ".join(f"{name} {version_of(name).lstrip('v')}" for name in _delivered_to())


def room_camera_task(current: Step) -> None:
    """Builds the guest of benches, if it is not in the cache."""
    if path_of(ROOM_CAMERA).exists():
        current.outcome = "built before"
    ensure(current, ROOM_CAMERA)


def _delivered_to() -> list[str]:
    return [name for name in PACKAGES if name not in (NETWORK_PLUGIN, ROOM_CAMERA)]
