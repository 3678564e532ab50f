"""MediaMTX as a program: out of its public image where that can be pulled, else built from its module."""

import shutil
from pathlib import Path

from base_images import pull
from progress import Failed, Step, run_logged
from settings import CACHE, ROOT

PUBLIC = "bluenviron/mediamtx:1.20.0"
COPY = "onair-mediamtx-copy"


def ensure_program(current: Step, tag: str) -> Path:
    """Returns the program for the inputs with this tag."""
    program = CACHE / "mediamtx" / tag / "mediamtx"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    draft = program.with_suffix(".new")
    if pull(current, PUBLIC):
        script = "\n".join(
            [
                f"docker rm --force {COPY}",
                f"docker create --name {COPY} {PUBLIC} && docker cp {COPY}:/mediamtx {draft}",
                f"code=$?; docker rm {COPY}; exit $code",
            ]
        )
        run_logged(current, "copying MediaMTX out of its image", "mediamtx", ["bash", "-c", script])
    else:
        for needed in ("go", "npm"):
            if not shutil.which(needed):
                raise Failed(f"MediaMTX is built with {needed}, which was not found", f"install {needed}")
        run_logged(
            current,
            "building MediaMTX (two minutes)",
            "mediamtx",
            [ROOT / "images/mediamtx/build", draft],
        )
    draft.rename(program)
    return program
