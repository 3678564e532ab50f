"""Tasks side by side: their order, what is left, and what a failure leaves behind."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from onair_dev import graph, subprocesses
from onair_dev.console_progress import Progress, Step
from onair_dev.failures import Failed
from onair_dev.graph import Task, at_the_pace_of, minutes, ready, remaining_s, run_all
from onair_dev.subprocesses import Cancelled


def nothing(_: Step) -> None: ...


TASKS = [
    Task("clients", nothing, (), 70),
    Task("base", nothing, (), 20),
    Task("programs", nothing, ("clients",), 270),
    Task("image", nothing, ("base",), 75),
    Task("cluster", nothing, ("programs", "image"), 35),
]


def test_the_task_that_most_waits_for_begins_first() -> None:
    assert [task.name for task in ready(TASKS, (), ())] == ["clients", "base"]
    assert [task.name for task in ready(TASKS, ("base", "clients"), ("base", "clients"))] == [
        "programs",
        "image",
    ]


def test_what_is_left_is_at_least_the_longest_way_to_the_end() -> None:
    assert remaining_s(TASKS, (), {}) == 70 + 270 + 35
    assert remaining_s(TASKS, ("clients",), {"programs": 200.0}) == pytest.approx((20 + 70 + 75 + 35) / 1.4)
    assert remaining_s(TASKS, [task.name for task in TASKS], {}) == 0


def test_a_task_that_takes_longer_than_thought_counts_as_nearly_done() -> None:
    assert remaining_s(TASKS[:1], (), {"clients": 500.0}) == 0


def test_a_slow_machine_is_known_by_what_it_has_done() -> None:
    assert at_the_pace_of({}, TASKS) == TASKS
    assert at_the_pace_of({"clients": 60.0}, TASKS) == TASKS, "it may have been there in part"
    slow = at_the_pace_of({"clients": 140.0, "base": 40.0}, TASKS)
    assert [round(task.estimate_s) for task in slow] == [140, 40, 540, 150, 70]


def test_minutes_are_rounded_and_never_none() -> None:
    assert minutes(10) == "about 1 minute"
    assert minutes(500) == "about 8 minutes"


def test_a_task_begins_when_all_that_it_needs_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[str] = []
    tasks = [Task(t.name, lambda _, name=t.name: order.append(name), t.needs) for t in TASKS]  # type: ignore[misc]
    run_all("make up", tasks)
    assert order.index("programs") > order.index("clients")
    assert order[-1] == "cluster"
    assert "[5/5] cluster" in capsys.readouterr().out


def test_two_tasks_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=10)
    run_all("make up", [Task("a", lambda _: void(meeting.wait())), Task("b", lambda _: void(meeting.wait()))])


def void(_: int) -> None: ...


def test_a_failure_is_told_and_nothing_else_begins() -> None:
    begun: list[str] = []

    def fail(_: Step) -> None:
        raise Failed("no such module", "read the log")

    tasks = [Task("tools", fail), Task("cluster", lambda _: begun.append("cluster"), ("tools",))]
    with pytest.raises(Failed, match="no such module"):
        run_all("make up", tasks)
    assert begun == []


def test_a_failure_counts_while_its_line_is_still_being_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that needs the failed task begins, and the last task's failure is no success."""
    begun: list[str] = []
    failing, ended = threading.Event(), threading.Event()

    class SlowProgress(Progress):
        @contextlib.contextmanager
        def step(self, name: str, label: str = "     ") -> Iterator[Step]:
            try:
                with super().step(name, label) as current:
                    yield current
            except Failed:
                failing.set()
                ended.wait(0.2)
                raise

    def fail(_: Step) -> None:
        raise Failed("no such module")

    def succeed_meanwhile(_: Step) -> None:
        failing.wait(10)

    monkeypatch.setattr(graph, "Progress", SlowProgress)
    tasks = [
        Task("tools", fail),
        Task("image", succeed_meanwhile),
        Task("cluster", lambda _: begun.append("cluster"), ("tools",)),
    ]
    with pytest.raises(Failed, match="no such module"):
        run_all("make up", tasks)
    with pytest.raises(Failed, match="no such module"):
        run_all("make up", tasks[:2])
    assert begun == []


def test_a_cancelled_task_starts_no_further_command() -> None:
    outcomes: list[str] = []
    started = threading.Event()

    def two_commands(current: Step) -> None:
        started.set()
        try:
            current.run("waiting", "test-graph-first", ["sleep", "60"])
        except Cancelled:
            outcomes.append("first cancelled")
        try:
            current.run("going on", "test-graph-second", ["true"])
        except Cancelled:
            outcomes.append("second cancelled")
            raise

    def fail(_: Step) -> None:
        started.wait(10)
        raise Failed("no such module")

    with pytest.raises(Failed, match="no such module"):
        run_all("make up", [Task("image", two_commands), Task("tools", fail)])
    assert outcomes == ["first cancelled", "second cancelled"]
    run_all("make up", [Task("again", lambda current: current.run("again", "test-graph-again", ["true"]))])


def test_a_task_whose_end_is_not_waited_for_starts_no_further_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second Ctrl-C comes while the tasks are ending that the first has cancelled."""
    outcomes: list[str] = []
    pools: list[ThreadPoolExecutor] = []
    started, interrupted = threading.Event(), threading.Event()

    class InterruptedPool(ThreadPoolExecutor):
        def __exit__(self, *_: object) -> None:
            pools.append(self)
            raise KeyboardInterrupt

    def two_commands(current: Step) -> None:
        started.set()
        interrupted.wait(10)
        try:
            current.run("going on", "test-graph-second", ["true"])
        except Cancelled:
            outcomes.append("cancelled")

    def interrupt(_: Step) -> None:
        started.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(graph, "ThreadPoolExecutor", InterruptedPool)
    with pytest.raises(KeyboardInterrupt):
        run_all("make up", [Task("image", two_commands), Task("tools", interrupt)])
    interrupted.set()
    pools[0].shutdown()
    subprocesses.allow_new()
    assert outcomes == ["cancelled"]
