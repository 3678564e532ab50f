"""A run that takes too long says what has failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.time_limit import VARIABLE

ROOT = Path(__file__).parents[3]
CONFTEST = """
import os, signal
import pytest
from tests.support.time_limit import end_in_time

def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        end_in_time()

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        os.kill(os.getpid(), signal.SIGALRM)  # as if the time were over now
"""
TESTS = """
import threading

def test_that_fails():
    assert "this" == "that"

def test_that_hangs():
    threading.Event().wait(2)
"""


@pytest.mark.parametrize("options", [("-p", "no:xdist"), ("--numprocesses=1",)], ids=["one", "workers"])
def test_what_failed_is_said_of_a_run_that_hangs(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), *options, str(tmp_path)],
        check=False,
        cwd=tmp_path,
        env={**own, VARIABLE: "600", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert f"not done within 600 s ({VARIABLE})" in run.stdout
    assert "FAILED test_it.py::test_that_fails" in run.stdout
