"""The command line of a Chromium that is steered over a pipe, and its start."""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

from onair_encoder.browser import sandbox
from onair_encoder.browser.bounds import MAX_STORED_BYTES
from onair_encoder.paths import DISPLAY, PULSE_SOCKET, SINK, max_size
from onair_encoder.process.start import start

PROGRAM = "/usr/lib/chromium/chromium"
DISABLED = ["Translate", "MediaRouter", "OptimizationHints", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"]
"""The last two load pages for an address bar, which a kiosk has not: 80 MB, and 0.43 s of CPU at a start."""
ENABLED = [
    f"StorageQuotaSettings:PoolSizeBytes/{MAX_STORED_BYTES}",
    # Of frames of other origins: they would be on air, and no script of ours is in their processes
    "SuppressDifferentOriginSubframeJSDialogs",
]
NICE = 5
"""A page that takes every core leaves three quarters of what is left to the screen and the sound server."""
FLAGS = [
    "--kiosk",
    "--no-first-run",
    "--no-default-browser-check",
    "--autoplay-policy=no-user-gesture-required",
    "--force-device-scale-factor=1",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disk-cache-size=67108864",
    "--media-cache-size=67108864",
    "--disable-quic",
    "--deny-permission-prompts",
    "--noerrdialogs",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    f"--disable-features={','.join(DISABLED)}",
    f"--enable-features={','.join(ENABLED)}",
    "--window-position=0,0",
    "--remote-debugging-pipe",
]


class Launched(NamedTuple):
    process: asyncio.subprocess.Process
    read_fd: int
    write_fd: int
    """Our ends of the pipe: its responses, and its commands."""


async def launch(profile: str) -> Launched:
    """Starts a browser.

    Args:
        profile: a folder of its own.

    Raises:
        OSError: it cannot be started.
        RuntimeError: no thread can.
    """
    sandbox_flags = await asyncio.to_thread(sandbox.flags)
    to_browser, write_fd = os.pipe()
    read_fd, from_browser = os.pipe()
    width, height = max_size()
    command = [
        PROGRAM,
        *FLAGS,
        *sandbox_flags,
        f"--window-size={width},{height}",
        f"--user-data-dir={profile}",
        "about:blank",
    ]
    environment = {
        **os.environ,
        "DISPLAY": DISPLAY,
        "PULSE_SERVER": f"unix:{PULSE_SOCKET}",
        "PULSE_SINK": SINK,
        "HOME": profile,
        "XDG_RUNTIME_DIR": profile,
    }
    try:
        process = await start(
            "/bin/bash",
            "-c",
            f'exec nice -n {NICE} "$@" 3<&{to_browser} 4>&{from_browser}',
            "chromium",
            *command,
            env=environment,
            pass_fds=(to_browser, from_browser),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        os.close(read_fd)
        os.close(write_fd)
        raise
    finally:
        os.close(to_browser)
        os.close(from_browser)
    return Launched(process, read_fd, write_fd)
