"""The pages of `images/web`: built with npm into the cache, checked and tested where they are."""

import hashlib
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from onair_dev import subprocesses
from onair_dev.console_progress import Step
from onair_dev.exclusive import exclusive
from onair_dev.settings import CACHE, ROOT

WORKSPACE = ROOT / "images/web"
PAGES = ("compositor",)
MADE = {"node_modules", "dist", "build"}
"""Folders that npm and the build write."""
AT: list[str | Path] = ["--prefix", WORKSPACE]
INSTALL: subprocesses.Command = ["npm", "ci", "--ignore-scripts", *AT]
REMEDY = "read the log; npm needs its registry, or a mirror that its configuration names"


def sources() -> list[Path]:
    """Returns the files that the pages are made of, in a stable order."""
    found = [file for file in WORKSPACE.rglob("*") if file.is_file()]
    return sorted(file for file in found if not MADE.intersection(file.relative_to(WORKSPACE).parts))


def tag() -> str:
    """Hashes the files that the pages are made of."""
    digest = hashlib.sha256()
    for file in sources():
        digest.update(f"{file.relative_to(WORKSPACE)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def ensure(current: Step | None = None) -> Path:
    """Returns the folder with a folder of each built page; builds them if their sources have changed."""
    built = CACHE / "web" / tag() / "web"
    if built.exists():
        return built
    with _alone():
        if not built.exists():
            _install(current)
            _build(current, built)
    return built


def check() -> None:
    """Checks the types of the pages."""
    with _alone():
        _install()
        _run(None, "checking the types of the pages", "web-check", ["npm", "run", "check", *AT])


def test() -> None:
    """Runs the pages' unit tests."""
    with _alone():
        _install()
        _run(None, "testing the pages", "web-test", ["npm", "test", *AT])


def _alone() -> AbstractContextManager[None]:
    """Of what writes into the workspace, one at a time."""
    return exclusive("web", "works on the pages")


def _build(current: Step | None, built: Path) -> None:
    _run(current, "building the pages", "web-build", ["npm", "run", "build", *AT])
    draft = built.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    for page in PAGES:
        shutil.copytree(WORKSPACE / page / "dist", draft / page)
    draft.rename(built)


def _install(current: Step | None = None) -> None:
    """Installs the locked npm packages, unless they are."""
    lock = (WORKSPACE / "package-lock.json").read_bytes()
    installed = WORKSPACE / "node_modules/.onair-lock"
    if installed.exists() and installed.read_bytes() == lock:
        return
    _run(current, "installing the npm packages of the pages", "web-install", INSTALL)
    installed.write_bytes(lock)


def _run(current: Step | None, doing: str, log_name: str, command: subprocesses.Command) -> None:
    run = current.run if current else subprocesses.run_logged
    run(doing, log_name, command, remedy=REMEDY)
