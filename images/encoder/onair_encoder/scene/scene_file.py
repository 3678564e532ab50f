"""The layouts in the pod's memory: a restarted agent continues with them, whoever cannot be reached."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from onair_crds.contract.scene import ProgramLayout
from onair_crds.runtime.stderr_log import log

_LAYOUTS: TypeAdapter[list[ProgramLayout]] = TypeAdapter(list[ProgramLayout])


def load(path: Path) -> list[ProgramLayout]:
    """The layouts that were last stored, if any."""
    try:
        return _LAYOUTS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValidationError) as error:
        log("scene.unreadable", error=type(error).__name__)
        return []


def store(path: Path, layouts: list[ProgramLayout]) -> None:
    """Replaces what is stored, atomically. A volume without space keeps what it has."""
    draft = path.with_suffix(".new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_LAYOUTS.dump_json(layouts, by_alias=True))
        draft.replace(path)
    except OSError as error:
        log("scene.not-stored", error=str(error.strerror))
