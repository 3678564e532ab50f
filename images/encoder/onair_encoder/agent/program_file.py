"""The programme in the pod's memory: a restarted agent resumes it without asking anyone.

Once the encoder has yielded to another one, a mark of that takes the programme's place.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from onair_crds.contract.program import Program
from onair_crds.runtime.stderr_log import log


def load(path: Path) -> Program | None:
    """The programme that was last stored, if any."""
    try:
        return Program.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        log("program.unreadable", errors=error.error_count())
        return None


def store(path: Path, program: Program) -> None:
    """Replaces the stored programme atomically; readable only by this user, as it holds keys."""
    draft = path.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(program.wire())
    draft.replace(path)


def store_yielded(path: Path) -> None:
    """Marks that another encoder has taken the place; the programme, with its keys, goes."""
    _mark(path).touch(mode=0o600)
    path.unlink(missing_ok=True)


def has_yielded(path: Path) -> bool:
    """Whether this pod's encoder has yielded to another one."""
    return _mark(path).exists()


def _mark(path: Path) -> Path:
    return path.with_suffix(".yielded")
