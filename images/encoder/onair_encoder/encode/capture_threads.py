"""The threads in which ffmpeg reads its inputs: the screen, when a capture is due, and the sound."""

from __future__ import annotations

from pathlib import Path

INPUTS = 2
"""That are read to the end of the encode."""
PROC = Path("/proc")
NAMED_FROM = "dmx"
"""Names of such threads in ffmpeg 7 and later begin so; before they have none of their own."""


def capture_threads(process: int) -> list[int]:
    """Finds the threads that read the inputs of an ffmpeg.

    Without names they are its own first ones: filters, encoders and outputs begin with the first frame.

    Returns:
        their ids; none while there are fewer than inputs.
    """
    try:
        names = {int(each.name): _name(each) for each in (PROC / str(process) / "task").iterdir()}
    except OSError:
        return []
    named = [thread for thread, name in names.items() if name.startswith(NAMED_FROM)]
    # Those that libraries start have names
    own = sorted(thread for thread, name in names.items() if name == names.get(process) and thread != process)
    found = sorted(named) or own[:INPUTS]
    return found if len(found) >= INPUTS else []


def _name(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except OSError:  # it has ended meanwhile
        return ""
