"""Real processes run for a part of the time, and as before once nobody asks for that."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.waiting import wait_for

from onair_encoder.browser import cpu_pauses
from onair_encoder.browser.cpu_pauses import PERIOD_S, CpuPauses, next_pause

SHARE = 0.5
BURNING = [sys.executable, "-c", "while True: pass"]


@pytest.fixture
def pauses() -> Iterator[CpuPauses]:
    pauses = CpuPauses()
    yield pauses
    pauses.set((), 1.0)


@pytest.fixture
def burning() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(BURNING)
    yield process
    process.kill()
    process.wait()


def ran_s(process: subprocess.Popen[bytes]) -> float:
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9


def state(process: subprocess.Popen[bytes]) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_process_runs_only_between_its_pauses(pauses: CpuPauses, burning: subprocess.Popen[bytes]) -> None:
    before_s, began_s = ran_s(burning), time.monotonic()
    pauses.set({burning.pid}, SHARE)
    wait_for(lambda: pauses.stopped_s > 0.3)
    stopped_s, ran = pauses.stopped_s, ran_s(burning) - before_s
    assert ran <= time.monotonic() - began_s - stopped_s + 0.05
    assert ran > 0
    wait_for(lambda: state(burning) == "T")
    pauses.set((), 1.0)
    assert pauses.processes == set()
    before_s = ran_s(burning)
    wait_for(lambda: ran_s(burning) > before_s + 0.1)
    assert state(burning) != "T"


def test_who_may_run_all_the_time_is_not_stopped(pauses: CpuPauses, burning: subprocess.Popen[bytes]) -> None:
    pauses.set({burning.pid}, 1.0)
    assert pauses.processes == set()
    pauses.set({burning.pid}, SHARE)
    wait_for(lambda: pauses.stopped_s > 0.05)
    pauses.set({burning.pid}, 1.0)
    stopped_s, before_s = pauses.stopped_s, ran_s(burning)
    wait_for(lambda: ran_s(burning) > before_s + 0.2)
    assert pauses.stopped_s - stopped_s < 0.05, "the last pause may have begun before"


def test_who_is_paused_no_more_goes_on_while_others_are_paused(
    pauses: CpuPauses, burning: subprocess.Popen[bytes]
) -> None:
    with subprocess.Popen(BURNING) as other:
        try:
            pauses.set({burning.pid, other.pid}, SHARE)
            wait_for(lambda: state(burning) == "T")
            pauses.set({other.pid}, SHARE)
            assert pauses.processes == {other.pid}
            wait_for(lambda: state(other) == "T")
            assert state(burning) != "T"
        finally:
            other.kill()


def test_nobody_stays_stopped_where_the_thread_ends_by_an_error(
    pauses: CpuPauses, burning: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(now_s: float, share: float) -> tuple[float, float]:
        raise ValueError("lost its way")

    pauses.set({burning.pid}, SHARE)
    wait_for(lambda: state(burning) == "T")
    with monkeypatch.context() as patch:
        patch.setattr(threading, "excepthook", lambda args: None)
        patch.setattr(cpu_pauses, "next_pause", fails)
        before_s = ran_s(burning)
        wait_for(lambda: ran_s(burning) > before_s + 0.1)
    pauses.set({burning.pid}, SHARE)
    wait_for(lambda: state(burning) == "T")


def test_processes_that_end_or_are_gone_are_passed_over(
    pauses: CpuPauses, burning: subprocess.Popen[bytes]
) -> None:
    pauses.set({burning.pid, 1 << 22}, SHARE)
    assert pauses.processes == {burning.pid}
    burning.kill()
    burning.wait()
    stopped_s = pauses.stopped_s
    wait_for(lambda: pauses.stopped_s > stopped_s + 0.02)
    pauses.set((), SHARE)
    assert pauses.processes == set()


@given(now_s=st.floats(0, 1e7), share=st.floats(0.5, 0.99))
def test_pauses_are_at_the_same_moments_for_all_pods_of_a_node(now_s: float, share: float) -> None:
    stop_s, go_on_s = next_pause(now_s, share)
    assert now_s <= stop_s + 1e-6
    assert share * PERIOD_S * 0.499 <= stop_s - now_s <= PERIOD_S * 1.51
    assert go_on_s - stop_s == pytest.approx((1 - share) * PERIOD_S, abs=1e-6)
    periods = go_on_s / PERIOD_S
    assert periods == pytest.approx(round(periods), abs=1e-3), (
        "all go on at whole periods of the node's clock"
    )
