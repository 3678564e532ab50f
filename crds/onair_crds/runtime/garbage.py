"""Keeps the collection of garbage short in a process that holds hundreds of thousands of objects for long.

A full collection looks at every container that lives: 0.2 s for the documents of 20,000 resources, in
which the event loop stands still. What has survived one that took long is left out of later ones. It is
still freed when nothing refers to it, unless it is part of a circle by then, which neither documents nor
connections that have ended are. If much more has been left out after a minute, one looks at everything.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONG_S = 0.001
THRESHOLDS = (700, 2, 2)
"""Of the three generations: a middle collection looks at 2,000 objects, a full one at 4,000 more."""
EVERYTHING_AFTER_S = 60.0
GROWTH = 1.5


@contextmanager
def short_collections(
    long_s: float = LONG_S, everything_after_s: float = EVERYTHING_AFTER_S
) -> Iterator[None]:
    """Leaves what survives a full collection of `long_s` seconds of CPU time or more out of later ones.

    So it does with all that is there at the beginning: modules above all.

    Args:
        everything_after_s: so often it is looked whether what is left out has become half as much again
            as what was found to live; if so, the next full collection looks at everything.
    """
    gc.collect()
    gc.freeze()
    living, looked = gc.get_freeze_count(), time.monotonic()
    began, everything = 0.0, False

    def collected(phase: str, info: dict[str, int]) -> None:
        nonlocal began, everything, living, looked
        if info["generation"] < 2:
            return
        if phase == "start":
            if time.monotonic() - looked >= everything_after_s:
                looked = time.monotonic()
                everything = gc.get_freeze_count() > living * GROWTH
                if everything:
                    gc.unfreeze()
            began = time.thread_time()
        elif time.thread_time() - began >= long_s or everything:
            gc.freeze()
            if everything:
                living, everything = gc.get_freeze_count(), False

    # The next full one waits for a quarter of what this one looks at, which is no module any more
    gc.collect()
    thresholds = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    gc.callbacks.append(collected)
    try:
        yield
    finally:
        gc.callbacks.remove(collected)
        gc.set_threshold(*thresholds)
