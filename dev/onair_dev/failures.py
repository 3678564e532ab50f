"""Failures of a command as a person should read them: never a traceback. The standard library alone."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from onair_dev.settings import LOGS, ROOT


class Failed(Exception):
    """A step cannot be done: why, what to do about it, and where its log is."""

    def __init__(self, why: str, remedy: str = "", log: Path | None = None) -> None:
        super().__init__(why)
        self.why, self.remedy, self.log = why, remedy, log


@contextlib.contextmanager
def exit_on_failure() -> Iterator[None]:
    """Turns a failure, Ctrl-C or a defect of this program into a few lines and an exit code."""
    try:
        yield
    except Failed as failure:
        explain(failure)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues where it stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # A reader such as `head` has closed our output; nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - a newcomer gets a sentence; the traceback goes where it can be sent from
        explain(Failed(f"{type(error).__name__}: {error}", "please report it with this log", _kept()))
        sys.exit(1)


def _kept() -> Path:
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "traceback.log"
    log.write_text(traceback.format_exc())
    return log


def explain(failure: Failed) -> None:
    """Prints why, what to do and where the log is: on standard error, as a shell evaluates our output."""
    print(f"  why   {failure.why}", file=sys.stderr)
    if failure.remedy:
        print(f"  try   {failure.remedy}", file=sys.stderr)
    if failure.log:
        log = failure.log
        with contextlib.suppress(ValueError):
            log = log.relative_to(ROOT)
        print(f"  log   {log}", file=sys.stderr)
