"""The MediaMTX program: copied from its public image if that can be pulled, otherwise built."""

from pathlib import Path

from onair_dev.cluster.base_images import pull
from onair_dev.progress import Step
from onair_dev.settings import CACHE, ROOT

PUBLIC = "bluenviron/mediamtx:1.20.0"
COPY = "onair-mediamtx-copy"


def path_of(tag: str) -> Path:
    """Returns the path of the program for the inputs with this tag."""
    return CACHE / "mediamtx" / tag / "mediamtx"


def ensure_program(current: Step, tag: str) -> Path:
    """Returns the program for the inputs with this tag; copies it from its image or builds it if missing."""
    program = path_of(tag)
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
        current.run("copying MediaMTX from its image", "mediamtx", ["bash", "-c", script])
    else:
        current.run(
            "building MediaMTX",
            "mediamtx",
            [ROOT / "images/mediamtx/build", draft],
        )
    draft.rename(program)
    return program
