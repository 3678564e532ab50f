"""The browser's window on the X screen. Without a window manager any client may resize it and keep it off."""

from __future__ import annotations

from Xlib import X, error
from Xlib.display import Display
from Xlib.ext import composite

from onair_crds.runtime.stderr_log import log
from onair_encoder.paths import DISPLAY

FAILURES = (error.DisplayError, error.XError, error.ConnectionClosedError, OSError)


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
    except FAILURES as problem:
        log("window.not-resized", error=type(problem).__name__)


class Screen:
    """Black while `blank`, whatever windows there are or come: they are drawn, but not on the screen.

    Calls block for some milliseconds. Where the X server refuses, or is away, windows stay on the screen.
    """

    def __init__(self) -> None:
        self._display: Display | None = None
        """While it is connected the server leaves it to us to draw windows on the screen."""

    def blank(self) -> None:
        """Keeps all windows off the screen from now on."""
        if self._display:
            return
        refused = error.CatchError()
        try:
            self._display = display = Display(DISPLAY)
            composite.RedirectSubwindows(
                display=display.display,
                onerror=refused,
                opcode=display.display.get_extension_major(composite.extname),
                window=display.screen().root,
                update=composite.RedirectManual,
            )
            display.sync()
        except FAILURES as problem:
            log("screen.not-blank", error=type(problem).__name__)
        if refusal := refused.get_error():
            log("screen.not-blank", error=type(refusal).__name__)

    def show(self) -> None:
        """Shows what windows have drawn meanwhile, at once and whole."""
        display, self._display = self._display, None
        try:
            if display:
                display.close()
        except FAILURES as problem:  # it was another server's
            log("screen.left", error=type(problem).__name__)
