"""Looks at what Chromium takes of the CPUs, and confines it to fewer while its page burns all of them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from onair_crds.contract.pod import CPU_REQUEST_VARIABLE
from onair_crds.runtime.stderr_log import log
from onair_encoder.browser import cpu_use
from onair_encoder.browser.cpu_confinement import CpuConfinement, CpuLook
from onair_encoder.browser.cpu_pauses import CpuPauses

LOOK_S, CONFINED_LOOK_S = 0.25, 0.5
"""Between two looks. Those at a confined browser are at all of its threads, which takes milliseconds."""
USUAL_REQUEST = 0.5
"""Where nobody says what the container was promised, CPUs."""
BURNING = 0.5
"""CPUs that a process wants which is paused, where its browser is confined: sound and the like want less."""


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
        self._wanted_s: dict[tuple[int, int], float] | None = None
        self._pauses = CpuPauses()
        self._stopped_s = 0.0
        self._bound = False
        """Threads may be bound still: that they are not is tried again at the next look, where it fails."""

    @property
    def confined(self) -> bool:
        return self._confinement.confined

    def begin(self) -> None:
        """Another page is wanted."""
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
            return
        length_s = max(now_s - before_s, 1e-3)
        running_s = max(length_s - (stopped_s - stopped_before_s), 1e-3)
        used = (used_s - used_before_s) / running_s
        allowed = os.sched_getaffinity(0)
        session = self._session()
        suspected = self._confinement.suspects(used, len(allowed))
        by_process = await self._wanted(session if suspected else None, length_s, running_s)
        wanted = None if by_process is None else sum(by_process.values())
        changed = self._confinement.decide(CpuLook(used, wanted, len(allowed), length_s), now_s)
        if changed:
            log("page.cpu", confined=self.confined, used=round(used, 2), wanted=wanted and round(wanted, 2))
            self._changed()
        # The first process is the one that is spoken to
        burning = {each for each, cpus in (by_process or {}).items() if cpus > BURNING and each != session}
        self._pauses.set(burning, self._confinement.running_share(allowed))
        if session and (self.confined or self._bound):
            await asyncio.to_thread(cpu_use.bind, session, self._confinement.cpus(allowed))
            self._bound = self.confined

    async def _wanted(
        self, session: int | None, length_s: float, running_s: float
    ) -> dict[int, float] | None:
        """Threads of each process that ran or waited to run, while they might; None while unknown."""
        now_s = await asyncio.to_thread(cpu_use.wanted_s, session) if session else None
        before_s, self._wanted_s = self._wanted_s, now_s
        if before_s is None or now_s is None:
            return None
        wanted: dict[int, float] = {}
        paused = self._pauses.processes
        for (process, thread), each_s in now_s.items():
            # Of another thread by the same number there is less than of the one before
            more_s = max(0.0, each_s - before_s.get((process, thread), 0.0))
            might_s = running_s if process in paused else length_s
            wanted[process] = wanted.get(process, 0.0) + more_s / might_s
        return wanted


def _request() -> float:
    """CPUs that the container was promised."""
    text = os.environ.get(CPU_REQUEST_VARIABLE)
    return int(text) / 1000 if text else USUAL_REQUEST
