"""Our images, each tagged with a hash of its inputs, so that an unchanged one is not rebuilt.

The build context is exactly the listed inputs, as a tar archive without dates and owners: a file
that is not listed cannot get into an image.
"""

import functools
import hashlib
import io
import os
import re
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from onair_dev.cluster import base_images
from onair_dev.cluster.base_images import has_image
from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import CACHE, CLUSTER, ROOT
from onair_dev.subprocesses import output_of
from onair_dev.tools import delivery_servers, web
from onair_dev.tools.mediamtx import ensure_program

NAMES = ("encoder", "api", "ingest", "operator", "mediamtx", "livekit", "redis")
ROOMS = "livekit"
"""Of the room server, the one image without which the chart can be installed: it has no hosted rooms then."""
ROOMS_INSTALLED = CACHE / f"{CLUSTER}.rooms"
"""Exists while the cluster has a room server: its image may be gone from the engine."""
KEPT_TAGS = 6
LABEL = "dev.onair.image"
PROXIES = [
    name
    for each in ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
    for name in (each, each.upper())
]
"""Variables that any build takes, and that are not kept in its image; docker reads their values itself."""
IGNORED = {"__pycache__", ".mypy_cache", ".ruff_cache"}
GO_LOCK = "requirements/go.txt"
"""Of the compiler, whose standard library is part of programs in Go."""
INPUTS = {
    "mediamtx": ["images/mediamtx", GO_LOCK],
    "livekit": ["images/livekit", "images/servers/livekit-server", GO_LOCK],
    "redis": ["images/redis"],
    "registry": ["images/registry"],
    "kube-router": ["images/kube-router", "images/servers/kube-router", GO_LOCK],
    "encoder": ["images/encoder", "images/web", "requirements/encoder.txt", "crds/onair_crds"],
    "api": ["images/api", "requirements/api.txt", "crds/onair_crds", "crds/manifests", "api/onair_api"],
    "ingest": ["images/ingest", "requirements/ingest.txt", "crds/onair_crds"],
    "operator": [
        "images/operator",
        "requirements/operator.txt",
        "crds/onair_crds",
        "crds/manifests",
        "operator/onair_operator",
    ],
}


@dataclass(frozen=True)
class Image:
    """One of our images, as its current inputs define it."""

    name: str
    tag: str
    context: bytes

    @property
    def repository(self) -> str:
        return f"onair/{self.name}"

    @property
    def reference(self) -> str:
        return f"{self.repository}:{self.tag}"


def files_of(inputs: list[str]) -> list[Path]:
    """Returns all files of the inputs in a stable order."""
    found = []
    for each in inputs:
        path = ROOT / each
        if path == web.WORKSPACE:
            found += web.sources()
        else:
            found += [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sorted(file for file in found if not IGNORED.intersection(file.parts))


def image(name: str) -> Image:
    """Reads the inputs of an image and computes its tag.

    Once in a process: what is edited while images are built is for the next command.
    """
    return _image(name, base_images.packages_of())


@functools.cache
def _image(name: str, packages: str) -> Image:
    if not (ROOT / f"images/{name}/Dockerfile").exists():
        raise Failed(f"images/{name}/Dockerfile is missing", "get a whole checkout")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for file in files_of(INPUTS[name]):
            entry = tarfile.TarInfo(str(file.relative_to(ROOT)))
            entry.size = file.stat().st_size
            entry.mode = 0o755 if os.access(file, os.X_OK) else 0o644
            with file.open("rb") as content:
                tar.addfile(entry, content)
    context = archive.getvalue()
    return Image(name, hashlib.sha256(context + packages.encode()).hexdigest()[:12], context)


def build(current: Step, wanted: Image) -> None:
    """Builds an image from its inputs with the classic builder, which every engine supports."""
    context = CACHE / f"context-{wanted.name}-{wanted.tag}.tar"
    context.parent.mkdir(parents=True, exist_ok=True)
    context.write_bytes(wanted.context)
    if made := _made(current, wanted):
        with tarfile.open(context, "a") as tar:
            tar.add(made, made.name)
    dockerfile = f"images/{wanted.name}/Dockerfile"
    command = ["docker", "build", "--network", "host", "--label", f"{LABEL}={wanted.name}"]
    command += [word for name in PROXIES if os.environ.get(name) for word in ("--build-arg", name)]
    try:
        current.run(
            f"building {wanted.name}",
            f"image-{wanted.name}",
            [*command, "--force-rm", "-t", wanted.reference, "-f", dockerfile, "-"],
            env={"DOCKER_BUILDKIT": "0", "BUILDKIT_PROGRESS": "plain"},
            stdin=context,
            remedy="read the log; finished layers are cached, so a retry is quick",
        )
    finally:
        context.unlink()
    remove_old_tags(wanted.repository)


def _made(current: Step, wanted: Image) -> Path | None:
    """Returns the program or folder that is built outside of the image, if it has one."""
    match wanted.name:
        case "mediamtx":
            return ensure_program(current, wanted.tag)
        case "encoder":
            return web.ensure(current)
        case "livekit":
            return delivery_servers.ensure(current, "livekit-server")
        case "kube-router":
            return delivery_servers.ensure(current, delivery_servers.NETWORK_PLUGIN)
        case _:
            return None


def remove_old_tags(repository: str) -> None:
    """Removes all but the newest KEPT_TAGS of our tags; other tags stay."""
    listed = output_of(["docker", "image", "ls", "--format", "{{.Tag}}", repository])
    ours = [tag for tag in listed.split() if re.fullmatch(r"[0-9a-f]{12}", tag)]
    for tag in ours[KEPT_TAGS:]:
        output_of(["docker", "image", "rm", f"{repository}:{tag}"])


def size_of(wanted: Image) -> str:
    """Formats the size of an image."""
    size = output_of(["docker", "image", "inspect", "--format", "{{.Size}}", wanted.reference])
    mb = int(size or 0) / 1e6
    return f"{mb / 1000:.1f} GB" if mb >= 1000 else f"{mb:.0f} MB"


def ensure_image(current: Step, name: str) -> tuple[Image, bool]:
    """Builds an image unless it exists; returns it, and whether it was built."""
    wanted = image(name)
    if has_image(wanted.reference):
        return wanted, False
    build(current, wanted)
    return wanted, True


def image_task(name: str) -> Callable[[Step], None]:
    """Returns a task that builds an image if its inputs have changed."""

    def run(current: Step) -> None:
        wanted, built = ensure_image(current, name)
        current.detail = f"{wanted.reference} {size_of(wanted)}"
        if not built:
            current.outcome = "cached"

    return run


def all_images(names: Iterable[str] = NAMES) -> list[Image]:
    """Returns images of the chart, as their current inputs define them."""
    return [image(name) for name in names]


def was_built(name: str) -> bool:
    """Whether the engine has this image, from current or earlier inputs."""
    return bool(output_of(["docker", "image", "ls", "--quiet", f"onair/{name}"]).strip())


def remove_all() -> None:
    """Removes all images that were built here."""
    for name in output_of(["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]).split():
        if name.startswith("onair/"):
            output_of(["docker", "image", "rm", name])
    # Untagged images of other projects stay
    output_of(["docker", "image", "prune", "--force", "--filter", f"label={LABEL}"], timeout_s=300)
