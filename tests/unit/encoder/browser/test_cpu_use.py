"""What real processes take of the CPUs, and where their threads may run."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.waiting import wait_for

from onair_encoder.browser import cpu_use

PROGRAM = """
import os, sys, threading, time
def spin():
    while True: time.sleep(0.001)
def breed():
    while threading.active_count() < 200:
        threading.Thread(target=spin, daemon=True).start()
os.fork()
for _ in range(4): threading.Thread(target=breed, daemon=True).start()
print('started', flush=True)
time.sleep(600)
"""
"""Two processes whose threads start others for a while."""


@pytest.fixture
def breeding() -> Iterator[subprocess.Popen[bytes]]:
    """A session of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, start_new_session=True
    )
    yield process
    os.killpg(process.pid, 9)
    process.communicate()


def wait_started(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout
    assert process.stdout.readline()


def affinities(session: int) -> set[frozenset[int]]:
    found = set()
    for _, thread in cpu_use.threads(session):
        with contextlib.suppress(ProcessLookupError):  # it has started its share of the others, and ended
            found.add(frozenset(os.sched_getaffinity(thread)))
    return found


def test_threads_are_bound_and_released_while_others_start(breeding: subprocess.Popen[bytes]) -> None:
    allowed = os.sched_getaffinity(0)
    last = {max(allowed)}
    wait_started(breeding)
    cpu_use.bind(breeding.pid, last)
    found = wait_for(lambda: [*cpu_use.threads(breeding.pid)] * (len([*cpu_use.threads(breeding.pid)]) > 50))
    assert len({process for process, _ in found}) == 2
    assert affinities(breeding.pid) == {frozenset(last)}
    assert os.sched_getaffinity(0) == allowed
    cpu_use.bind(breeding.pid, allowed)
    assert affinities(breeding.pid) == {frozenset(allowed)}


def test_threads_that_run_or_wait_to_are_counted(breeding: subprocess.Popen[bytes]) -> None:
    wait_started(breeding)

    def total_s() -> tuple[float, float]:
        times = cpu_use.thread_times(breeding.pid).values()
        return sum(each.ran for each in times), sum(each.wanted for each in times)

    ran_s, wanted_s = total_s()
    assert 0 < ran_s <= wanted_s
    wait_for(lambda: total_s() > (ran_s, wanted_s))


def test_what_is_gone_meanwhile_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_use, "threads", lambda session: iter([(1 << 22, 1 << 22), (-1, 1 << 22)]))
    cpu_use.bind(1, {0})
    assert cpu_use.thread_times(1) == {}


def test_a_session_without_processes_has_no_threads() -> None:
    assert [*cpu_use.threads(1 << 22)] == []
    cpu_use.bind(1 << 22, {0})


@pytest.mark.parametrize(
    ("name", "text"),
    [("cpu.stat", "usage_usec 2500000\nuser_usec 1\n"), ("cpuacct/cpuacct.usage", "2500000000\n")],
    ids=["v2", "v1"],
)
def test_the_containers_cpu_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setattr(cpu_use, "CGROUP", tmp_path)
    assert cpu_use.used_s() is None
    (tmp_path / "cpuacct").mkdir()
    (tmp_path / name).write_text(text)
    assert cpu_use.used_s() == 2.5


def test_a_file_that_does_not_say_it_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_use, "CGROUP", tmp_path)
    (tmp_path / "cpu.stat").write_text("nr_periods 0\nnr_throttled 0\n")
    assert cpu_use.used_s() is None
