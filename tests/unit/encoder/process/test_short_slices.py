"""Threads ask for short turns of the processor, and are otherwise as they were."""

from __future__ import annotations

import os
import platform
import subprocess

import pytest
from tests.support.time_slices import slice_ns, slices_are_kept
from tests.support.waiting import wait_for

from onair_encoder.process.short_slices import SLICE_NS, ask_for_short_slices


def test_a_program_is_given_short_slices_and_keeps_its_nice_value() -> None:
    sleeper = subprocess.Popen(["nice", "-n", "7", "sleep", "86411"])
    try:
        wait_for(lambda: os.getpriority(os.PRIO_PROCESS, sleeper.pid) == 7, "it is nice")
        assert ask_for_short_slices(sleeper.pid)
        assert slice_ns(sleeper.pid) == (SLICE_NS if slices_are_kept() else 0)
        assert os.getpriority(os.PRIO_PROCESS, sleeper.pid) == 7
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_thread_that_has_ended_has_none() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not ask_for_short_slices(ended.pid)


def test_on_another_machine_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    assert not ask_for_short_slices(os.getpid())
