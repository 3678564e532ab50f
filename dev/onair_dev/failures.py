"""Reports failures of a command to the user without a traceback. Uses only the standard library."""

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from onair_dev.settings import LOGS, ROOT

ENGINE_REMEDY = "start Docker, or give this user access to it (group docker)"
"""Where no container engine responds."""


class Failed(Exception):
    """A step failed: the reason, a remedy, and the path of its log."""

    def __init__(self, why: str, remedy: str = "", log: Path | None = None) -> None:
        super().__init__(why)
        self.why, self.remedy, self.log = why, remedy, log


ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""Sent by `make` when it is ended, and by a terminal that is closed."""


def interrupt_when_ended() -> None:
    """Turns the first of the signals that would end this process into what Ctrl-C does; more are ignored.

    Commands run in sessions of their own: they would go on without the process that holds their lock.
    """

    def interrupt(_: int, __: FrameType | None) -> None:
        for each in ENDINGS:
            # No SIG_IGN, which commands would inherit
            signal.signal(each, lambda *_: None)
        raise KeyboardInterrupt

    for each in ENDINGS:
        # nohup has SIGHUP ignored
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, interrupt)


@contextlib.contextmanager
def exit_on_failure() -> Iterator[None]:
    """Turns a failure, Ctrl-C or a bug in this program into a short message and an exit code."""
    try:
        yield
    except Failed as failure:
        explain(failure)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues where it stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output, such as `head`, has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        # The machine's fault more often than ours: a full disk, a folder that belongs to another user.
        explain(
            Failed(f"{error.strerror or error}: {error.filename or 'unknown file'}", log=_save_traceback())
        )
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - users get a sentence; the traceback goes into a log that they can send
        explain(
            Failed(f"{type(error).__name__}: {error}", "please report it with this log", _save_traceback())
        )
        sys.exit(1)


def _save_traceback() -> Path | None:
    """Returns the log; None if it cannot be written, as on a full disk."""
    log = LOGS / "traceback.log"
    try:
        LOGS.mkdir(parents=True, exist_ok=True)
        log.write_text(traceback.format_exc())
    except OSError:
        return None
    return log


def explain(failure: Failed) -> None:
    """Prints reason, remedy and log to standard error, as a shell may evaluate standard output."""
    print(f"  why   {failure.why}", file=sys.stderr)
    if failure.remedy:
        print(f"  try   {failure.remedy}", file=sys.stderr)
    if failure.log:
        log = failure.log
        with contextlib.suppress(ValueError):
            log = log.relative_to(ROOT)
        print(f"  log   {log}", file=sys.stderr)
