"""Segments of a recording on disk, with all that an agent that was restarted needs to store them."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import shutil
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.prefix_lock import prefix_of

DISK_BYTES = 512 * 2**20
"""Of all destinations of a pod together: half of the volume that they are on."""


@dataclass
class Budget:
    """The disk space that spools share, with what was left and nobody has taken up yet."""

    most_bytes: int = DISK_BYTES
    used_bytes: int = 0

    @property
    def is_exceeded(self) -> bool:
        return self.used_bytes > self.most_bytes


def place_key(storage: ProgramStorage, broadcast: str) -> str:
    """The same for the same playlist in the same place, in every process, whichever destination has it."""
    place = (*prefix_of(storage), storage.vod, broadcast)
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()[:24]


def keep(path: Path, cut: Cut, data: bytes | bytearray) -> None:
    """Writes a segment, whole or not at all.

    Raises:
        OSError: there is no room.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(path)
        draft.write_bytes(data)
        draft.replace(path)
        _note(path, cut, len(data))
    except OSError:
        # What there was room for would keep the disk full
        with contextlib.suppress(OSError):
            forget(path)
        raise


def keep_name(path: Path, cut: Cut, name: str) -> None:
    """Notes the name under which a segment is stored, in place of its data: it is yet to be listed.

    Raises:
        OSError: there is no room.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _note(path, cut, 0, name)
    path.unlink(missing_ok=True)


def _note(path: Path, cut: Cut, size: int, name: str = "") -> None:
    draft = _draft(path)
    draft.write_text(
        json.dumps([cut.duration_s, cut.began.isoformat(), cut.discontinuity, cut.packets, size, name])
    )
    draft.replace(path.with_suffix(".json"))


def _draft(path: Path) -> Path:
    """Of this thread: another one may be writing the same, if it could not be waited for."""
    return path.with_suffix(f".{threading.get_ident()}.new")


def forget(path: Path) -> None:
    """Deletes a segment from the disk, with its note."""
    for each in (path.with_suffix(".json"), path, _draft(path)):
        each.unlink(missing_ok=True)


@dataclass(frozen=True)
class Kept:
    """A segment of a recording on disk."""

    path: Path
    size: int
    cut: Cut
    """Without its data."""
    name: str
    """Under which it is stored already; empty if it is not."""


def kept(folder: Path) -> list[Kept]:
    """The whole segments in a folder, in order; one whose predecessor is not there continues nothing."""
    found: list[Kept] = []
    for note in sorted(folder.glob("*.json")):
        path = note.with_suffix(".ts")
        try:
            duration_s, began, discontinuity, packets, size, name = json.loads(note.read_text())
            cut = Cut(b"", duration_s, dt.datetime.fromisoformat(began), discontinuity, packets)
            if not name and path.stat().st_size != size:
                continue
        except (OSError, ValueError, TypeError):
            continue
        if not found or int(path.stem) != int(found[-1].path.stem) + 1:
            cut = replace(cut, discontinuity=True)
        found.append(Kept(path, size, cut, name))
    return found


def forget_others(folder: Path, found: list[Kept]) -> None:
    """Removes all that is not whole, and the folder where nothing is: it would fill the disk bit by bit."""
    known = {path for each in found for path in (each.path, each.path.with_suffix(".json"))}
    with contextlib.suppress(OSError):
        for each in [each for each in folder.iterdir() if each not in known]:
            each.unlink()
        if not found:
            folder.rmdir()


def remove(folders: list[Path]) -> None:
    """Removes folders with all that is in them."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
