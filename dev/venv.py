"""Makes .venv from requirements/dev.txt, each package checked against its hash; skipped when it fits."""

import hashlib
import shutil
import sys

from progress import Failed, Step, last_words, run_logged, step, succeeds
from settings import ROOT

VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
LOCK = ROOT / "requirements/dev.txt"
MARK = VENV / "onair-lock"
OLDEST = (3, 11)


def wanted() -> str:
    """Changes with the lock file and with what pyproject.toml says of our own packages."""
    parts = [LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def make(current: Step) -> None:
    """Creates the folder; `uv` does it where it is installed, else Python's own `venv`."""
    try_ = "install python3-venv, or uv"
    if uv := shutil.which("uv"):
        run_logged(current, "creating .venv", "venv", [uv, "venv", "--seed", VENV], try_=try_)
    else:
        run_logged(current, "creating .venv", "venv", [sys.executable, "-m", "venv", VENV], try_=try_)


def installer() -> list[str]:
    """`uv pip install` of the environment, of this machine, or `pip install`."""
    if succeeds([PYTHON, "-m", "uv", "--version"]):
        return [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", f"--python={PYTHON}"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", f"--python={PYTHON}"]
    return [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def main() -> None:
    """Brings .venv to what the lock file says."""
    if MARK.exists() and MARK.read_text() == wanted():
        return
    with step("[venv]", "python") as current:
        if sys.version_info < OLDEST:
            raise Failed(
                f"Python {'.'.join(map(str, OLDEST))} or newer is needed", "make PYTHON=/path/to/python3"
            )
        if not succeeds([PYTHON, "--version"]):
            make(current)
        install = installer()
        locked = [*install, "--require-hashes", "-r", str(LOCK)]
        run_logged(current, "installing the locked packages", "venv-packages", locked)
        own = [*install, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
        run_logged(current, "installing this project", "venv-project", own)
        MARK.write_text(wanted())
        current.detail = f".venv from {LOCK.relative_to(ROOT)}"


if __name__ == "__main__":
    with last_words():
        main()
