"""Has processes run for a part of the time, so that who waits for their CPU has it within milliseconds."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

PERIOD_S = 0.01
"""Of a run and a pause together: less than a third of a frame, so that who waits for a pause is not late."""


def next_pause(now_s: float, share: float) -> tuple[float, float]:
    """When the next pause begins and ends: at the same moments for all pods of a node, which have one clock.

    So those whose pages burn pause together, and leave as much to others as one of them alone.

    Args:
        now_s: on the monotonic clock, as what is returned.
        share: of each period, that processes run from its beginning on.
    """
    periods = math.floor(now_s / PERIOD_S)
    stop_s, go_on_s = (periods + share) * PERIOD_S, (periods + 1) * PERIOD_S
    # Whoever went on late runs for half of its time at least
    return (
        (stop_s, go_on_s)
        if stop_s - now_s >= share * PERIOD_S / 2
        else (stop_s + PERIOD_S, go_on_s + PERIOD_S)
    )


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
            return {*self._processes}

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
                try:
                    _send(descriptor, signal.SIGCONT)
                finally:
                    os.close(descriptor)
            for process in wanted - self._processes.keys():
                with contextlib.suppress(ProcessLookupError):  # ended meanwhile
                    self._processes[process] = os.pidfd_open(process)
            if self._processes and not self._thread:
                thread = threading.Thread(target=self._run, name="pauses", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        try:
            while True:
                stop_s, go_on_s = next_pause(time.monotonic(), self._share)
                _sleep_until(stop_s)
                with self._lock:
                    if not self._processes:
                        return
                    self._send_all(signal.SIGSTOP)
                    began_s = time.monotonic()
                _sleep_until(go_on_s)
                with self._lock:
                    self._send_all(signal.SIGCONT)
                    self._stopped_s += time.monotonic() - began_s
        finally:  # whatever it ends by, nobody stays stopped, and another thread may start
            with self._lock:
                self._send_all(signal.SIGCONT)
                self._thread = None

    def _send_all(self, signal_: signal.Signals) -> None:
        for descriptor in self._processes.values():
            _send(descriptor, signal_)


def _sleep_until(at_s: float) -> None:
    time.sleep(max(0.0, at_s - time.monotonic()))


def _send(descriptor: int, signal_: signal.Signals) -> None:
    # Ended meanwhile; who could be stopped can be continued, or there is nothing that could be done
    with contextlib.suppress(OSError if signal_ == signal.SIGCONT else ProcessLookupError):
        signal.pidfd_send_signal(descriptor, signal_)
