"""Ends a run early enough to say what has failed in it, where something else would end it without a word."""

from __future__ import annotations

import os
import signal
from types import FrameType

import pytest

VARIABLE = "ONAIR_TESTS_WITHIN_S"


def end_in_time() -> None:
    """Ends pytest, with its summary, once the seconds of the environment's `ONAIR_TESTS_WITHIN_S` are over.

    Nothing happens without it.
    """
    within_s = os.environ.get(VARIABLE)
    if not within_s:
        return

    def end(signum: int, frame: FrameType | None) -> None:
        pytest.exit(f"not done within {within_s} s ({VARIABLE})", pytest.ExitCode.TESTS_FAILED)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(max(1, int(within_s)))
