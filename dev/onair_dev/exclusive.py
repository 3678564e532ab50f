"""Lets one `make` at a time do what two must not do side by side. Uses only the standard library."""

import contextlib
import fcntl
import sys
from collections.abc import Iterator
from typing import IO

from onair_dev.settings import CACHE
from onair_dev.subprocesses import pause

LOOK_S = 0.2

_HELD_TO_THE_END: list[IO[str]] = []
"""Locks of an interrupted process: its threads and commands may still be ending."""


@contextlib.contextmanager
def exclusive(name: str, doing: str) -> Iterator[None]:
    """Holds a lock of this user, after waiting for any other `make` that holds it.

    The kernel releases it when its process ends, however that ends; an interruption keeps it until then.

    Args:
        doing: what the other one does, for the message while it is waited for.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as at_the_end:
        lock = at_the_end.enter_context((CACHE / f"{name}.lock").open("w"))
        if not _taken(lock):
            print(f"another `make` {doing}; waiting for it", file=sys.stderr, flush=True)
            while not _taken(lock):
                pause(LOOK_S)
        try:
            yield
        except KeyboardInterrupt:
            _HELD_TO_THE_END.append(lock)
            at_the_end.pop_all()
            raise


def _taken(lock: IO[str]) -> bool:
    """Takes it if nobody has it. To wait in the kernel would be deaf to an interruption."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
