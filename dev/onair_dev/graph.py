"""Runs tasks in parallel, in the order of their dependencies, and estimates the remaining time."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from time import monotonic

from onair_dev import subprocesses
from onair_dev.console_progress import Progress, Step, console

PARALLEL_TASKS = 2
"""More would slow each other down: compilers use all available cores."""
OVERLAP = 1.4
"""Tasks under way on average, measured: the last ones wait for each other, so that fewer than two are."""
SHOW_ESTIMATE_FROM_S = 60.0


@dataclass(frozen=True)
class Task:
    name: str
    run: Callable[[Step], None]
    needs: tuple[str, ...] = ()
    estimate_s: float = 0.0
    """Duration on two cores, in parallel to another task if there is one; 0 if everything exists already."""


def path_s(tasks: Sequence[Task], spent_s: Mapping[str, float]) -> dict[str, float]:
    """Returns each task's critical path: the time from its start to the end of its last dependent."""
    by_name = {task.name: task for task in tasks}
    known: dict[str, float] = {}

    def longest(name: str) -> float:
        if name not in known:
            own = max(0.0, by_name[name].estimate_s - spent_s.get(name, 0.0))
            known[name] = own + max((longest(t.name) for t in tasks if name in t.needs), default=0.0)
        return known[name]

    return {name: longest(name) for name in by_name}


def remaining_s(tasks: Sequence[Task], done: Collection[str], spent_s: Mapping[str, float]) -> float:
    """Estimates how long the remaining tasks will take.

    Args:
        spent_s: elapsed time of the running tasks.
    """
    left = [task for task in tasks if task.name not in done]
    total = sum(max(0.0, task.estimate_s - spent_s.get(task.name, 0.0)) for task in left)
    return max([total / OVERLAP, *path_s(left, spent_s).values()], default=0.0)


def at_the_pace_of(took_s: Mapping[str, float], tasks: Sequence[Task]) -> list[Task]:
    """Returns the tasks with estimates for this machine and its network, which may be slower than others.

    Args:
        took_s: durations of the tasks that have finished.
    """
    known = [task for task in tasks if task.estimate_s and task.name in took_s]
    estimated_s = sum(task.estimate_s for task in known)
    pace = max(1.0, sum(took_s[task.name] for task in known) / estimated_s) if known else 1.0
    return [replace(task, estimate_s=task.estimate_s * pace) for task in tasks]


def ready(tasks: Sequence[Task], done: Collection[str], started: Collection[str]) -> list[Task]:
    """Returns the tasks that can start, the one with the longest critical path first."""
    paths = path_s(tasks, {})
    startable = [t for t in tasks if t.name not in started and all(need in done for need in t.needs)]
    return sorted(startable, key=lambda task: -paths[task.name])


def minutes(duration_s: float) -> str:
    """Formats a duration: `about 7 minutes`."""
    count = max(1, round(duration_s / 60))
    return f"about {count} minute{'s' if count > 1 else ''}"


def run_all(command: str, tasks: Sequence[Task], of: int | None = None) -> None:
    """Runs all tasks and prints a line for each when it has finished.

    Args:
        of: total in the numbering of the lines, if more steps than these tasks follow.

    Raises:
        Failed: a task failed. The other running ones were terminated; the next call continues from there.
    """
    total = remaining_s(tasks, (), {})
    if total > SHOW_ESTIMATE_FROM_S:
        console.print(f"{command}: {minutes(total)} of builds left; later runs reuse them", markup=False)
    run = _Run(tasks, of or len(tasks))
    try:
        with Progress(run.left) as progress, ThreadPoolExecutor(PARALLEL_TASKS) as pool:
            try:
                run.all(progress, pool)
            except BaseException:
                subprocesses.terminate_all()
                raise
    finally:
        # A second Ctrl-C ends the wait for tasks that would go on with their next command
        if run.has_ended():
            subprocesses.allow_new()


class _Run:
    def __init__(self, tasks: Sequence[Task], of: int) -> None:
        self._tasks = tasks
        self._of = of
        self._took_s: dict[str, float] = {}
        """Of those that are done."""
        self._started: dict[str, float] = {}
        self._lock = threading.Lock()
        self._submitted: list[Future[None]] = []

    def has_ended(self) -> bool:
        """Whether no task is running, or about to."""
        return all(each.done() for each in self._submitted)

    def all(self, progress: Progress, pool: ThreadPoolExecutor) -> None:
        running: set[Future[None]] = set()
        while running or len(self._took_s) < len(self._tasks):
            for task in ready(self._tasks, self._took_s, self._started)[: PARALLEL_TASKS - len(running)]:
                self._started[task.name] = monotonic()
                self._submitted.append(pool.submit(self._one, progress, task))
                running.add(self._submitted[-1])
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for each in ended:
                each.result()

    def _one(self, progress: Progress, task: Task) -> None:
        with progress.step(task.name) as current:
            task.run(current)
            with self._lock:
                width = len(str(self._of))
                current.label = f"[{len(self._took_s) + 1:>{width}}/{self._of}]"
                self._took_s[task.name] = monotonic() - self._started[task.name]

    def left(self) -> str:
        """Formats the remaining tasks and time, for the line below the running steps."""
        now = monotonic()
        with self._lock:
            spent = {name: now - at for name, at in self._started.items() if name not in self._took_s}
            remaining = remaining_s(at_the_pace_of(self._took_s, self._tasks), self._took_s, spent)
        waiting = [task.name for task in self._tasks if task.name not in self._started]
        if not waiting or remaining < SHOW_ESTIMATE_FROM_S:
            return ""
        return f"left: {', '.join(waiting)} · {minutes(remaining)}"
