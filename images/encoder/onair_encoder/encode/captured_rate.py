"""The rate at which a command of ffmpeg captures the screen. Pure.

Apart from the command itself: PID 1 needs only this, and with all that a programme is it would be there
a quarter of a second later, and the agent after it.
"""

from __future__ import annotations

from fractions import Fraction

RATE_OPTION = "-framerate"


def captured_rate(command: list[str]) -> Fraction:
    """The frame rate at which a command captures; 30 where it does not say."""
    return Fraction(command[command.index(RATE_OPTION) + 1]) if RATE_OPTION in command else Fraction(30)
