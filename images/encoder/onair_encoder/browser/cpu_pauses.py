"""Has processes run for a part of the time, so that who waits for their CPU has it within milliseconds."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

PERIOD_S = 0.01
"""Of a run and a pause together: less than a third of a frame, so that who waits for a pause is not late."""


class CpuPauses:
    """Stops processes and continues them, many times a second, from a thread of its own.

    They are known by file descriptors of the kernel, as a number may be another process's by the next time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: dict[int, int] = {}
        """Their file descriptors."""
        self._share = 1.0
        self._stopped_s = 0.0
        self._thread: threading.Thread | None = None

    @property
    def stopped_s(self) -> float:
        """How long processes were stopped until now, in all."""
        with self._lock:
            return self._stopped_s

    @property
    def processes(self) -> AbstractSet[int]:
        with self._lock:
            return self._processes.keys() - ()

    def set(self, processes: Iterable[int], share: float) -> None:
        """Has these run for a share of the time from now on, and those before as they like.

        Raises:
            OSError, RuntimeError: no file descriptor or thread can be had at the moment.
        """
        wanted = {*processes} if share < 1 else set()
        with self._lock:
            self._share = share
            for process in self._processes.keys() - wanted:
                descriptor = self._processes.pop(process)
                _send(descriptor, signal.SIGCONT)
                os.close(descriptor)
            for process in wanted - self._processes.keys():
                with contextlib.suppress(ProcessLookupError):  # ended meanwhile
                    self._processes[process] = os.pidfd_open(process)
            if self._processes and not self._thread:
                thread = threading.Thread(target=self._run, name="pauses", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        while True:
            time.sleep(self._share * PERIOD_S)
            with self._lock:
                if not self._processes:
                    self._thread = None
                    return
                self._send_all(signal.SIGSTOP)
                began_s = time.monotonic()
            time.sleep((1 - self._share) * PERIOD_S)
            with self._lock:
                self._send_all(signal.SIGCONT)
                self._stopped_s += time.monotonic() - began_s

    def _send_all(self, signal_: signal.Signals) -> None:
        for descriptor in self._processes.values():
            _send(descriptor, signal_)


def _send(descriptor: int, signal_: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # ended meanwhile
        signal.pidfd_send_signal(descriptor, signal_)
