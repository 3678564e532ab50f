"""Compiles the chart's `.proto` files for the facade, and checks their form and compatibility.

They must stay readable for clients that were built from `released.binpb`, the compiled files of the last
release. `make proto-release` replaces it, which is right only for a change that no client has been given.
"""

import subprocess
import sys
from pathlib import Path

from onair_dev.settings import BUILD, ROOT
from onair_dev.tools import buf

SOURCES = ROOT / "charts/onair/files/proto"
COMPILED = ROOT / "api/onair_api/rpc/descriptors.binpb"
RELEASED = ROOT / "api/released.binpb"
OPTIONS = ["--as-file-descriptor-set", "--exclude-imports", "--exclude-source-info"]


def write() -> int:
    """Compiles the files."""
    return _compile(COMPILED, OPTIONS)


def release() -> int:
    """Makes what the files say now that which later ones are compared with."""
    return _compile(RELEASED, ["--exclude-source-info"])


def check() -> int:
    """Checks form and compatibility, and that the compiled files are fresh; returns 1 otherwise."""
    fresh = BUILD / "descriptors.binpb"
    BUILD.mkdir(exist_ok=True)
    failed = [
        _buf("lint"),
        _buf("format", "--exit-code", "--diff"),
        _buf("breaking", "--against", str(RELEASED)),
        _compile(fresh, OPTIONS),
    ]
    if any(failed):
        return 1
    if fresh.read_bytes() != COMPILED.read_bytes():
        print(f"{COMPILED.relative_to(ROOT)}: stale, run make generate")
        return 1
    return 0


def _compile(target: Path, options: list[str]) -> int:
    return _buf("build", "--output", str(target), *options)


def _buf(*arguments: str) -> int:
    command: list[str | Path] = [buf.ensure(), *arguments]
    return subprocess.run(command, cwd=SOURCES, stdout=sys.stdout, check=False).returncode
