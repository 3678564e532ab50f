"""Paths by which the two containers of a pod meet, and what their environment says."""

from __future__ import annotations

import os
from pathlib import Path

from onair_crds.contract.pod import (
    BROWSER_FOLDER,
    CA_CERTIFICATES_FOLDER,
    COMPOSITOR_FOLDER,
    DEFAULT_MAX_HEIGHT,
    DEFAULT_MAX_WIDTH,
    IDENTITY_FOLDER,
    MAX_HEIGHT_VARIABLE,
    MAX_WIDTH_VARIABLE,
    POD_NAME_VARIABLE,
    PROGRAM_FOLDER,
    PULSE_FOLDER,
    TMP_FOLDER,
    X11_FOLDER,
)

DISPLAY = ":0"
X_SOCKET = Path(X11_FOLDER, "X0")
X_LOCK = Path(TMP_FOLDER, ".X0-lock")
PULSE_SOCKET = Path(PULSE_FOLDER, "native")
BROWSER_SOCKET = Path(BROWSER_FOLDER, "control")
PROGRAM_FILE = Path(PROGRAM_FOLDER, "program.json")
COMPOSITOR = Path(COMPOSITOR_FOLDER)
IDENTITY = Path(IDENTITY_FOLDER)
CA_CERTIFICATES = Path(CA_CERTIFICATES_FOLDER)
MEDIA_SOCKET = Path(TMP_FOLDER, "media.sock")
SUPERVISOR_SOCKET = Path(TMP_FOLDER, "supervisor.sock")
START_GATE = Path(TMP_FOLDER, "start-gate")
"""A named pipe that ffmpeg reads to its end before it opens the screen."""
SPOOL = Path(TMP_FOLDER, "spool")
SINK = "pgm"
"""The sink of the sound server that the page plays into."""


def max_size() -> tuple[int, int]:
    """Width and height of the X screen in pixels: the largest canvas."""
    width = os.environ.get(MAX_WIDTH_VARIABLE, DEFAULT_MAX_WIDTH)
    height = os.environ.get(MAX_HEIGHT_VARIABLE, DEFAULT_MAX_HEIGHT)
    return int(width), int(height)


def pod_name() -> str:
    """The name of this pod."""
    return os.environ[POD_NAME_VARIABLE]
