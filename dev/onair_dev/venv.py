"""Makes .venv from requirements/dev.txt, each package checked against its hash; skipped when it fits.

The standard library alone: this runs before anything is installed.
"""

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from onair_dev.commands import run_logged, succeeds
from onair_dev.failures import Failed
from onair_dev.settings import ROOT, VENV

PYTHON = VENV / "bin/python"
LOCK = ROOT / "requirements/dev.txt"
MARK = VENV / "onair-lock"
PIP: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def wanted() -> str:
    """Changes with the lock file and with what pyproject.toml says of our own packages."""
    parts = [LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def is_fresh() -> bool:
    """Whether .venv is what the lock file says."""
    return MARK.exists() and MARK.read_text() == wanted()


def ensure_python() -> None:
    """Makes an empty .venv with pip, unless one is there that runs."""
    if succeeds([PYTHON, "-m", "pip", "--version"]):
        return
    if uv := shutil.which("uv"):
        create: list[str | Path] = [uv, "venv", "--seed", "--clear", "--python", sys.executable, VENV]
    else:
        create = [sys.executable, "-m", "venv", "--clear", VENV]
    run_logged("creating .venv", "venv", create, remedy="install python3-venv")


def ensure(say: Callable[[str], None]) -> None:
    """Brings .venv to what the lock file says; `say` is told what is being done."""
    if is_fresh():
        return
    say("installing the locked Python packages into .venv")
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
    MARK.write_text(wanted())
