"""Reads which packages an image has: Debian's, Python's, Go's and npm's."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from onair_dev.cluster.images import Image
from onair_dev.subprocesses import output_of
from onair_dev.tools import web

DPKG_STATUS = "/var/lib/dpkg/status"
PYTHON = "/opt/onair/bin/python3"
PROGRAMS = {"mediamtx": "/mediamtx", "livekit": "/livekit-server"}
"""Programs in Go, the only content of their images besides certificates."""
NPM_LOCK = web.WORKSPACE / "package-lock.json"
TIMEOUT_S = 120
LIST_PYTHON = """
import json
from importlib.metadata import distributions
print(json.dumps(sorted({(each.metadata["Name"], each.version) for each in distributions()})))
"""


class Package(NamedTuple):
    kind: str
    """Type of its package URL: deb, pypi, golang, npm."""
    name: str
    version: str
    architecture: str = ""
    source: str = ""
    """Debian's source package, if it has another name: what advisories are about."""


def packages_of(image: Image) -> list[Package]:
    """Every package in an image that exists here, sorted."""
    found = [*_debian(image), *_python(image), *_go(image)]
    if image.name == "encoder":
        found += npm_packages(NPM_LOCK.read_text())
    return sorted(set(found))


def debian_packages(status: str) -> Iterator[Package]:
    """The installed ones of dpkg's status file."""
    for paragraph in status.split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " "
        )
        if fields.get("Status", "").endswith(" installed"):
            source = fields.get("Source", "").split(" ")[0]
            yield Package("deb", fields["Package"], fields["Version"], fields["Architecture"], source)


def go_modules(told: str) -> Iterator[Package]:
    """Parses the output of `go version -m`; a replacement counts for what it replaces."""
    modules: list[Package] = []
    for line in told.splitlines()[1:]:
        what, *fields = line.strip().split("\t")
        if what in ("mod", "dep") and len(fields) > 1:
            modules.append(Package("golang", fields[0], fields[1]))
        elif what == "=>" and len(fields) > 1:
            modules[-1] = Package("golang", fields[0], fields[1])
        elif what == "path":
            modules.append(Package("golang", "stdlib", told.splitlines()[0].rsplit(" go", 1)[1]))
    # A module that is built from its own checkout has no version
    return (each for each in modules if each.version != "(devel)")


def npm_packages(lock: str) -> Iterator[Package]:
    """Parses a package-lock.json: what pages contain, and not what builds and checks them."""
    for path, entry in json.loads(lock)["packages"].items():
        if "node_modules/" in path and not entry.get("dev") and not entry.get("link"):
            yield Package("npm", path.rsplit("node_modules/", 1)[1], entry["version"])


def _debian(image: Image) -> Iterator[Package]:
    return debian_packages(status.decode()) if (status := _file(image, DPKG_STATUS)) else iter(())


def _python(image: Image) -> Iterator[Package]:
    if image.name in PROGRAMS or image.name == "redis":
        return
    command = ["docker", "run", "--rm", "--network=none", "--entrypoint", PYTHON, image.reference]
    told = subprocess.run([*command, "-c", LIST_PYTHON], check=True, capture_output=True, timeout=TIMEOUT_S)
    for name, version in json.loads(told.stdout):
        yield Package("pypi", name.lower().replace("_", "-"), version)


def _go(image: Image) -> Iterator[Package]:
    if image.name not in PROGRAMS:
        return iter(())
    program = _file(image, PROGRAMS[image.name])
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(program)
        copy.flush()
        return go_modules(output_of(["go", "version", "-m", copy.name]))


def _file(image: Image, path: str) -> bytes:
    """Content of a file in an image; empty if it has none."""
    command = ["docker", "create", "--entrypoint", "none", image.reference]
    container = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        copy = ["docker", "cp", f"{container}:{path}", "-"]
        copied = subprocess.run(copy, check=False, capture_output=True, timeout=TIMEOUT_S)
    finally:
        subprocess.run(["docker", "rm", container], check=True, capture_output=True)
    if copied.returncode != 0:
        return b""
    with tarfile.open(fileobj=io.BytesIO(copied.stdout)) as tar:
        content = tar.extractfile(Path(path).name)
        return content.read() if content else b""
