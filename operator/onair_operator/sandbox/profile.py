"""Installs the browser's seccomp profile on a node."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from onair_crds.runtime.stderr_log import log

HASH_DIGITS = 12


def installed_name(profile: bytes) -> str:
    """A profile's name on nodes: another one is another file, as containers start again with theirs."""
    return f"chromium-{hashlib.sha256(profile).hexdigest()[:HASH_DIGITS]}.json"


def install(file: Path, folder: Path) -> None:
    """Copies a profile to its place: whole, or not at all.

    Raises:
        OSError: it cannot be read or written.
    """
    profile = file.read_bytes()
    target = folder / installed_name(profile)
    if target.exists() and target.read_bytes() == profile:
        log("profile.unchanged", name=target.name)
        return
    number, name = tempfile.mkstemp(prefix=".", dir=folder)
    try:
        with os.fdopen(number, "wb") as written:
            written.write(profile)
            written.flush()
            os.fsync(number)
        Path(name).chmod(0o644)
        Path(name).rename(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    log("profile.installed", name=target.name)
