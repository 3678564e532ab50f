"""Lets one `make` at a time do what two must not do side by side. Uses only the standard library."""

import contextlib
import fcntl
import sys
from collections.abc import Iterator

from onair_dev.settings import CACHE


@contextlib.contextmanager
def exclusive(name: str, doing: str) -> Iterator[None]:
    """Holds a lock of this user, after waiting for any other `make` that holds it.

    The kernel releases it when its process ends, however that ends.

    Args:
        doing: what the other one does, for the message while it is waited for.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another `make` {doing}; waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
