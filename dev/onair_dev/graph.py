"""Tasks that need one another, run side by side as far as that goes."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import monotonic

from onair_dev import commands
from onair_dev.progress import Progress, Step, console

AT_ONCE = 2
"""More would slow each other down: compilers take all cores that there are."""
GAIN = 1.4
"""What two at a time gain over one after the other on two cores, measured."""
WORTH_SAYING_S = 60.0


@dataclass(frozen=True)
class Task:
    name: str
    run: Callable[[Step], None]
    needs: tuple[str, ...] = ()
    estimate_s: float = 0.0
    """How long it takes alone on two cores; 0 where everything is there."""


def path_s(tasks: Sequence[Task], spent_s: Mapping[str, float]) -> dict[str, float]:
    """For each task the time from its start to the end of the last that waits for it."""
    by_name = {task.name: task for task in tasks}
    known: dict[str, float] = {}

    def longest(name: str) -> float:
        if name not in known:
            own = max(0.0, by_name[name].estimate_s - spent_s.get(name, 0.0))
            known[name] = own + max((longest(t.name) for t in tasks if name in t.needs), default=0.0)
        return known[name]

    return {name: longest(name) for name in by_name}


def remaining_s(tasks: Sequence[Task], done: Collection[str], spent_s: Mapping[str, float]) -> float:
    """About how long the tasks that are left will take.

    Args:
        spent_s: how long those that run now have been running.
    """
    left = [task for task in tasks if task.name not in done]
    total = sum(max(0.0, task.estimate_s - spent_s.get(task.name, 0.0)) for task in left)
    return max([total / GAIN, *path_s(left, spent_s).values()], default=0.0)


def ready(tasks: Sequence[Task], done: Collection[str], begun: Collection[str]) -> list[Task]:
    """Tasks that can begin, the one first on which the longest work waits."""
    paths = path_s(tasks, {})
    able = [t for t in tasks if t.name not in begun and all(need in done for need in t.needs)]
    return sorted(able, key=lambda task: -paths[task.name])


def minutes(duration_s: float) -> str:
    """For people: `about 7 minutes`."""
    count = max(1, round(duration_s / 60))
    return f"about {count} minute{'s' if count > 1 else ''}"


def run_all(command: str, tasks: Sequence[Task], of: int | None = None) -> None:
    """Runs all tasks; prints a line for each as it ends, numbered of `of`, or of as many as there are.

    Raises:
        Failed: a task failed. The others that ran were ended; the next call continues where they stopped.
    """
    total = remaining_s(tasks, (), {})
    if total > WORTH_SAYING_S:
        console.print(f"{command}: {minutes(total)} the first time; what is built is kept", markup=False)
    run = _Run(tasks, of or len(tasks))
    with Progress(run.left) as progress, ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            run.all(progress, pool)
        except BaseException:
            commands.end_all()
            raise


class _Run:
    def __init__(self, tasks: Sequence[Task], of: int) -> None:
        self._tasks = tasks
        self._of = of
        self._done: list[str] = []
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def all(self, progress: Progress, pool: ThreadPoolExecutor) -> None:
        running: set[Future[None]] = set()
        while len(self._done) < len(self._tasks):
            for task in ready(self._tasks, self._done, self._begun)[: AT_ONCE - len(running)]:
                self._begun[task.name] = monotonic()
                running.add(pool.submit(self._one, progress, task))
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for each in ended:
                each.result()

    def _one(self, progress: Progress, task: Task) -> None:
        with progress.step(task.name) as current:
            try:
                task.run(current)
            finally:
                with self._lock:
                    width = len(str(self._of))
                    current.label = f"[{len(self._done) + 1:>{width}}/{self._of}]"
                    self._done.append(task.name)

    def left(self) -> str:
        """What is left, for the line under the steps that run."""
        now = monotonic()
        with self._lock:
            spent = {name: now - at for name, at in self._begun.items() if name not in self._done}
            remaining = remaining_s(self._tasks, self._done, spent)
        waiting = [task.name for task in self._tasks if task.name not in self._begun]
        if not waiting or remaining < WORTH_SAYING_S:
            return ""
        return f"left: {', '.join(waiting)} · {minutes(remaining)}"
