"""The process of a room: a preview's takes no more memory than it may."""

from __future__ import annotations

import subprocess
import sys

GROWS = """
from onair_crds.room_publisher import room_process
room_process.PREVIEW_GROWTH_BYTES = 64 * 2**20
room_process._bound_memory()
kept = [bytearray(16 * 2**20) for _ in range(2)]
print("has room", flush=True)
kept += [bytearray(16 * 2**20) for _ in range(4)]
print("has more")
"""


def test_a_preview_takes_only_so_much_more_memory() -> None:
    ended = subprocess.run([sys.executable, "-c", GROWS], capture_output=True, text=True, check=False)
    assert ended.stdout == "has room\n", ended.stderr
    assert "MemoryError" in ended.stderr
