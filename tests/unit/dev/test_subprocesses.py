"""Commands end with the one that started them, and what waits is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.waiting import wait_for

from onair_dev import subprocesses
from onair_dev.subprocesses import Cancelled, pause, terminate_all

ROOT = Path(__file__).parents[3]
MAKE = """
import signal, sys
from onair_dev import failures
from onair_dev.subprocesses import run_logged

# Ignored by what a shell or nohup has started in the background
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
failures.interrupt_when_ended()
with failures.exit_on_failure():
    run_logged("building", "test-subprocesses", ["sh", "-c", sys.argv[1]])
"""
BUILD = """
trap 'sleep 0.2; touch ended; exit 1' TERM
cd {folder}
touch begun
while :; do sleep 0.05; done
"""


@pytest.fixture
def allowed_again() -> Iterator[None]:
    yield
    subprocesses.allow_new()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_has_ended_before_the_make_that_started_it(ending: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "dev")}
    script = BUILD.format(folder=tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", MAKE, script], env=environment, stderr=subprocess.PIPE, text=True
    ) as make:
        wait_for((tmp_path / "begun").exists, "the command runs")
        make.send_signal(ending)
        _, printed = make.communicate(timeout=20)
    assert (tmp_path / "ended").exists()
    assert make.returncode == 130
    assert "continues where it stopped" in printed


def test_what_waits_ends_when_another_step_has_failed(allowed_again: None) -> None:
    outcomes: list[str] = []

    def wait() -> None:
        try:
            pause(60)
        except Cancelled:
            outcomes.append("cancelled")

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    terminate_all()
    waiting.join(10)
    assert outcomes == ["cancelled"]
