"""Looks at what Chromium takes of the CPUs, and confines it to fewer while its page burns all of them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from onair_crds.contract.pod import CPU_REQUEST_VARIABLE
from onair_crds.runtime.stderr_log import log
from onair_encoder.browser import cpu_use
from onair_encoder.browser.cpu_confinement import CpuConfinement, CpuLook
from onair_encoder.browser.cpu_pauses import CpuPauses
from onair_encoder.browser.cpu_use import CpuTime

LOOK_S, CONFINED_LOOK_S = 0.25, 0.5
"""Between two looks. Those at a confined browser are at all of its threads, which takes milliseconds."""
USUAL_REQUEST = 0.5
"""Where nobody says what the container was promised, CPUs."""
BURNING, NOT_WAITING = 0.5, 0.05
"""A process of a confined browser that wants more CPUs than the one, and has more than the other, is paused:
what sound takes is less, though it may wait long for it."""
THREAD_BURNS = 0.8
"""Of the time: a thread that runs or waits to run for more of it does not sleep between two frames. Those of
an honest page do, also where they wait for each other and for the encoder: 0.3 to 0.7 on crowded CPUs."""


class ProcessUse(NamedTuple):
    """What a process did since the look before, in CPUs of the time in which it might run."""

    ran: float
    wanted: float
    """On which it ran, or for which it waited."""
    burnt: float
    """Of `wanted`: that of threads which hardly slept, or which were not there before."""


class ThreadTimes(NamedTuple):
    """What each thread has had of the CPUs, and when somebody looked."""

    at_s: float
    of: Mapping[tuple[int, int], CpuTime]

    @classmethod
    def now(cls, session: int) -> ThreadTimes:
        return cls(time.monotonic(), cpu_use.thread_times(session))


class CpuWatch:
    """Knows whether the browser is confined.

    Args:
        session: of the present Chromium, which is its process; None while there is none.
        changed: called when it is confined or released.
    """

    def __init__(self, session: Callable[[], int | None], changed: Callable[[], None]) -> None:
        self._confinement = CpuConfinement(_request())
        self._session, self._changed = session, changed
        self._looked_s = time.monotonic()
        self._used_s = cpu_use.used_s()
        self._times: ThreadTimes | None = None
        self._pauses = CpuPauses()
        self._stopped_s = 0.0
        self._pauses_error: str | None = None
        self._bound = False
        """Threads may be bound still: that they are not is tried again at the next look, if it fails."""

    @property
    def confined(self) -> bool:
        return self._confinement.confined

    def begin(self) -> None:
        """Starts over with another page."""
        self._confinement.begin()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(CONFINED_LOOK_S if self.confined else LOOK_S)
            try:
                await self.look()
            except (OSError, RuntimeError) as error:  # no file or thread can be had at the moment
                log("page.cpu-unknown", error=str(error))

    async def look(self) -> None:
        """Takes a look, and has Chromium run where and when it may from now on."""
        now_s, before_s = time.monotonic(), self._looked_s
        used_s, used_before_s = cpu_use.used_s(), self._used_s
        stopped_s, stopped_before_s = self._pauses.stopped_s, self._stopped_s
        self._looked_s, self._used_s, self._stopped_s = now_s, used_s, stopped_s
        if used_s is None or used_before_s is None:
            self._pause((), 1.0)
            return
        length_s = max(now_s - before_s, 1e-3)
        used = (used_s - used_before_s) / length_s
        allowed = os.sched_getaffinity(0)
        session = self._session()
        suspected = self._confinement.suspects(used, len(allowed))
        # What is paused wants as much of the time in which it may run
        more = length_s / max(length_s - (stopped_s - stopped_before_s), 1e-3)
        factors = dict.fromkeys(self._pauses.processes, more)
        uses = await self._uses(session if suspected else None, factors)
        burnt = wanted = None
        if uses is not None:
            burnt = sum(each.burnt for each in uses.values())
            wanted = sum(each.wanted for each in uses.values())
            used += sum(each.ran * (1 - 1 / factors.get(process, 1)) for process, each in uses.items())
        changed = self._confinement.decide(CpuLook(used, burnt, wanted, len(allowed), length_s), now_s)
        if changed:
            rounded = {"burnt": burnt and round(burnt, 2), "wanted": wanted and round(wanted, 2)}
            log("page.cpu", confined=self.confined, used=round(used, 2), **rounded)
            self._changed()
        if session and (self.confined or self._bound):
            await asyncio.to_thread(cpu_use.bind, session, self._confinement.cpus(allowed))
            self._bound = self.confined
        burning = (
            process
            for process, each in (uses or {}).items()
            # The first one is the one that is spoken to
            if process != session and each.wanted > BURNING and each.ran > NOT_WAITING
        )
        self._pause(burning, self._confinement.running_share(allowed))

    def _pause(self, processes: Iterable[int], share: float) -> None:
        """Pauses these, where the kernel can; all of them stay bound to their CPUs."""
        error: str | None = None
        try:
            self._pauses.set(processes, share)
        except (OSError, RuntimeError) as refused:
            error = str(refused)
        if error and error != self._pauses_error:
            log("page.not-paused", error=error)
        self._pauses_error = error

    async def _uses(self, session: int | None, factors: Mapping[int, float]) -> dict[int, ProcessUse] | None:
        """What each process has done since the look before; None while unknown.

        Args:
            factors: of processes that were paused meanwhile, how much longer this was than they might run.
        """
        before, self._times = self._times, None
        if session is None:
            return None
        now = self._times = await asyncio.to_thread(ThreadTimes.now, session)
        if before is None:
            return None
        uses: dict[int, ProcessUse] = {}
        for (process, thread), time_ in now.of.items():
            earlier = before.of.get((process, thread), CpuTime(0, 0))
            share = factors.get(process, 1) / max(now.at_s - before.at_s, 1e-3)
            # Of another thread by the same number there is less than of the one before
            ran = max(0.0, time_.ran - earlier.ran) * share
            wanted = min(1.0, max(0.0, time_.wanted - earlier.wanted) * share)
            burnt = wanted if wanted > THREAD_BURNS or (process, thread) not in before.of else 0.0
            of_process = uses.get(process, ProcessUse(0, 0, 0))
            uses[process] = ProcessUse(
                of_process.ran + ran, of_process.wanted + wanted, of_process.burnt + burnt
            )
        return uses


def _request() -> float:
    """CPUs that the container was promised."""
    text = os.environ.get(CPU_REQUEST_VARIABLE)
    return int(text) / 1000 if text else USUAL_REQUEST
