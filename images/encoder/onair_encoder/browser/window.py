"""The browser's window on the X screen. Without a window manager any client may resize it."""

from __future__ import annotations

from Xlib import X, error
from Xlib.display import Display

from onair_crds.runtime.stderr_log import log
from onair_encoder.paths import DISPLAY


def resize(width: int, height: int) -> None:
    """Gives the largest window these pixels, at the top left.

    A window of the whole screen costs a twentieth of a pod: all of it is processed with each frame.
    Where it cannot be done the programme looks the same.
    """
    try:
        display = Display(DISPLAY)
        try:
            windows = [
                (each.get_geometry(), each)
                for each in display.screen().root.query_tree().children
                if each.get_attributes().map_state == X.IsViewable
            ]
            if windows:
                _, window = max(windows, key=lambda found: found[0].width * found[0].height)
                window.configure(x=0, y=0, width=width, height=height)
            display.sync()
        finally:
            display.close()
    except (error.DisplayError, error.XError, error.ConnectionClosedError, OSError) as problem:
        log("window.not-resized", error=type(problem).__name__)
