"""Creates .venv from requirements/dev.txt, each package verified against its hash; skipped if up to date.

Uses only the standard library: nothing is installed yet when this runs.
"""

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from onair_dev.failures import Failed
from onair_dev.settings import ROOT, VENV
from onair_dev.subprocesses import run_logged, succeeds

PYTHON = VENV / "bin/python"
LOCK = ROOT / "requirements/dev.txt"
STAMP = VENV / "onair-lock"
PIP: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def fingerprint() -> str:
    """Hashes what the content of .venv depends on: the lock file, pyproject.toml, and its Python's version.

    The name of the program that bin/python links to has the version: python3.11.
    """
    names = f"{ROOT}{PYTHON.resolve()}"
    parts = [LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), names.encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def is_fresh() -> bool:
    """Whether .venv matches the lock file, and its Python exists, which an upgrade may have removed."""
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text() == fingerprint()


def ensure_python() -> None:
    """Creates an empty .venv with pip, unless a working one exists."""
    if succeeds([PYTHON, "-m", "pip", "--version"]):
        return
    if uv := shutil.which("uv"):
        create: list[str | Path] = [uv, "venv", "--seed", "--clear", "--python", sys.executable, VENV]
    else:
        create = [sys.executable, "-m", "venv", "--clear", VENV]
    run_logged("creating .venv", "venv", create, remedy="install python3-venv")


def ensure(say: Callable[[str], None]) -> None:
    """Updates .venv to match the lock file; reports its progress to `say`."""
    if is_fresh():
        return
    say("installing the locked Python packages into .venv")
    STAMP.unlink(missing_ok=True)
    ensure_python()
    locked_uv = re.search(r"^uv==(?:.*\\\n)*.*\n", LOCK.read_text(), re.MULTILINE)
    if locked_uv is None:
        raise Failed(f"{LOCK} does not pin uv", "run `make lock`")
    with tempfile.TemporaryDirectory() as folder:
        only_uv = Path(folder, "uv.txt")
        only_uv.write_text(locked_uv[0])
        run_logged("installing uv", "venv-uv", [*PIP, "--require-hashes", "-r", only_uv])
    uv: list[str | Path] = [PYTHON, "-m", "uv", "pip"]
    run_logged(
        "installing the locked packages",
        "venv-packages",
        [*uv, "install", "--quiet", f"--python={PYTHON}", "--require-hashes", "-r", LOCK],
    )
    own: list[str | Path] = ["--no-deps", "--no-build-isolation", "--editable", ROOT]
    run_logged(
        "installing this project", "venv-project", [*uv, "install", "--quiet", f"--python={PYTHON}", *own]
    )
    STAMP.write_text(fingerprint())
