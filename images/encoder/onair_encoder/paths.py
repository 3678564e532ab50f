"""Where the two containers of a pod meet, and what their environment tells them."""

from __future__ import annotations

import os
from pathlib import Path

DISPLAY = ":0"
X_SOCKET = Path("/tmp/.X11-unix/X0")  # noqa: S108
PULSE_SOCKET = Path("/run/onair/pulse/native")
BROWSER_SOCKET = Path("/run/onair/browser/control")
PROGRAM_FILE = Path("/run/onair/program/program.json")
IDENTITY = Path("/run/onair/identity")
AUTHORITIES = Path("/etc/onair/authorities")
"""Certificates of authorities that servers may be signed by, beside the system's; PEM, one or more a file."""
MEDIA_SOCKET = Path("/tmp/media.sock")  # noqa: S108
SUPERVISOR_SOCKET = Path("/tmp/supervisor.sock")  # noqa: S108
SPOOL = Path("/tmp/spool")  # noqa: S108
SINK = "pgm"


def max_size() -> tuple[int, int]:
    """Width and height of the X screen in pixels: the largest canvas."""
    return int(os.environ.get("ONAIR_MAX_WIDTH", "3840")), int(os.environ.get("ONAIR_MAX_HEIGHT", "2160"))


def pod_name() -> str:
    return os.environ["ONAIR_POD_NAME"]


def epoch() -> int:
    return int(os.environ.get("ONAIR_EPOCH", "0"))
