"""The MediaMTX program, built with what ours adds to it."""

from pathlib import Path

from onair_dev.console_progress import Step
from onair_dev.settings import CACHE, ROOT


def path_of(tag: str) -> Path:
    """Returns the path of the program for the inputs with this tag."""
    return CACHE / "mediamtx" / tag / "mediamtx"


def ensure_program(current: Step, tag: str) -> Path:
    """Returns the program for the inputs with this tag; builds it if missing."""
    program = path_of(tag)
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_suffix(".new")
    current.run("building MediaMTX", "mediamtx", [ROOT / "images/mediamtx/build", draft])
    draft.rename(program)
    return program
