"""The X screen and the browser's window. Without a window manager any client may resize or hide it."""

from __future__ import annotations

from Xlib import X, error
from Xlib.display import Display
from Xlib.ext import composite, randr

from onair_crds.runtime.stderr_log import log
from onair_encoder.paths import DISPLAY

FAILURES = (error.DisplayError, error.XError, error.ConnectionClosedError, OSError)


def resize_window(width: int, height: int) -> None:
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


def set_refresh(tick_us: int) -> bool:
    """Has the screen say that it is refreshed every so many microseconds: Chromium paints as often.

    It takes whole microseconds, rounded down: half of one more is said, as a rate is no exact number.
    Where it cannot be done, which False says, Chromium paints as before, 60 times a second at first.
    """
    try:
        display = Display(DISPLAY)
        try:
            _set_mode(display, 1_000_000 / (tick_us + 0.5))
        finally:
            display.close()
    except (*FAILURES, LookupError) as problem:  # a screen without the extension, or without an output
        log("screen.rate-not-set", error=type(problem).__name__)
        return False
    return True


def _set_mode(display: Display, refresh_hz: float) -> None:
    """Gives the screen a mode of its own size and this rate, and takes former ones from it.

    Chromium looks at a screen whose modes change, not at one that changes to another that it has had before.
    """
    root = display.screen().root
    found = randr.get_screen_resources(root)
    crtc, output = found.crtcs[0], found.outputs[0]
    screen = root.get_geometry()
    width, height = screen.width, screen.height
    clock_hz = round(width * height * refresh_hz)
    made = {each.id: each.dot_clock for each in found.modes if each.dot_clock}
    if made.get(randr.get_crtc_info(display, crtc, found.config_timestamp).mode) == clock_hz:
        return
    _remove(display, output, [mode for mode, known_hz in made.items() if known_hz == clock_hz])
    name = f"{clock_hz}"
    timing = (0, width, height, clock_hz, width, width, width, 0, height, height, height, len(name), 0)
    mode = randr.create_mode(root, timing, name).mode
    randr.add_output_mode(display, output, mode)
    done = randr.set_crtc_config(display, crtc, found.config_timestamp, 0, 0, mode, randr.Rotate_0, [output])
    if done.status != randr.SetConfigSuccess:
        raise LookupError(f"status {done.status}")
    _remove(display, output, [mode for mode, known_hz in made.items() if known_hz != clock_hz])
    display.sync()


def _remove(display: Display, output: int, modes: list[int]) -> None:
    for mode in modes:
        randr.delete_output_mode(display, output, mode)
        randr.destroy_mode(display, mode)


class Screen:
    """Black while `blank`, whatever windows there are or come: they are drawn, but not on the screen.

    Calls block for some milliseconds. If the X server refuses, or is unavailable, windows stay on the screen.
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
