"""The X server that Chromium paints on, and the sound server that it plays to."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable

from onair_encoder.paths import DISPLAY, PULSE_SOCKET, SINK, X_LOCK, X_SOCKET, max_size
from onair_encoder.process.child import Child
from onair_encoder.process.short_slices import ask_for_short_slices


def x_server() -> Child:
    """The X server, with a screen of the largest canvas; not started yet."""
    width, height = max_size()
    command = ["Xvfb", DISPLAY, "-screen", "0", f"{width}x{height}x24"]
    options = ["-nolisten", "tcp", "-ac", "-nocursor", "+extension", "MIT-SHM"]

    async def clean() -> None:
        for leftover in (X_SOCKET, X_LOCK):
            with contextlib.suppress(FileNotFoundError):
                leftover.unlink()

    # The rows of a large screen are far apart: large pages make scanning them a quarter cheaper
    large_pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    return Child(
        "xvfb",
        [*command, *options],
        env=large_pages,
        before=clean,
        # A capture waits for it
        on_start=ask_for_short_slices,
        quiet=True,
    )


def sound_server(on_end: Callable[[], None]) -> Child:
    """PulseAudio with one null sink, which the encoder records; not started yet."""
    runtime = tempfile.mkdtemp(prefix="pulse-")
    null_sink = f"module-null-sink sink_name={SINK} rate=48000 channels=2 norewinds=1"
    protocol = f"module-native-protocol-unix socket={PULSE_SOCKET} auth-anonymous=1"
    command = [
        *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"),
        *("--disable-shm=no", "-L", protocol, "-L", null_sink),
    ]

    async def clean() -> None:
        with contextlib.suppress(FileNotFoundError):
            PULSE_SOCKET.unlink()

    return Child(
        "pulseaudio",
        command,
        env={"XDG_RUNTIME_DIR": runtime, "HOME": runtime},
        before=clean,
        quiet=True,
        on_end=on_end,
    )
