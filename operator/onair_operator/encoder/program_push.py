"""Hands one encoder the programme that is wanted of it, in a task of its own, until it has acknowledged it.

A reconcile only says what is wanted: an encoder that does not respond holds up nobody else.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable

import structlog

from onair_crds.backoff import backoff_s
from onair_crds.contract.program import Program
from onair_operator.encoder.unreachable import EncoderUnreachable

log = structlog.get_logger()

RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0
REFUSED_RETRY_MIN_S, REFUSED_RETRY_MAX_S = 1.0, 30.0
"""An encoder that refuses a programme will do so again, unless it is another one by then."""


class ProgramRefused(Exception):
    """The encoder will not carry this programme out: its own response, in a sentence."""


class RevisionStale(Exception):
    """The encoder knows a newer revision of the programme: `known`."""

    def __init__(self, known: int) -> None:
        super().__init__(f"revision {known} is known")
        self.known = known


def digest(program: Program) -> str:
    """Distinguishes programmes whatever their revision."""
    return hashlib.sha256(program.model_copy(update={"revision": 0}).wire().encode()).hexdigest()


class ProgramPush:
    """The wanted programme of one encoder, and how far it is taken.

    Revisions are milliseconds of the clock, so they grow over restarts of the operator. They grow beyond
    those that the encoder has, too: a leader whose clock is behind its predecessor's is not refused.
    """

    def __init__(
        self,
        pod: str,
        put: Callable[[Program], Awaitable[None]],
        changed: Callable[[], None],
        leads: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            put: sends a programme; raises EncoderUnreachable, ProgramRefused or RevisionStale.
            changed: called when the encoder has acknowledged a programme, or begun to refuse it.
            leads: whether this process may act at the moment.
            clock: the time in seconds since 1970.
        """
        self.pushed: str | None = None
        """Digest of the programme that the encoder has acknowledged."""
        self.refused: str | None = None
        """Why it refuses the one that is wanted."""
        self._pod = pod
        self._put = put
        self._changed = changed
        self._leads = leads
        self._clock = clock
        self._wanted: tuple[Program, str] | None = None
        """With its digest."""
        self._acknowledged = 0
        """The revision of it."""
        self._known = 0
        """The highest revision that the encoder is known to have."""
        self._news = asyncio.Event()

    @property
    def settled(self) -> str | None:
        """Digest of the wanted programme once the encoder has acknowledged it."""
        return self.pushed if self._wanted and self._wanted[1] == self.pushed else None

    def want(self, program: Program) -> None:
        """Makes a programme the wanted one; the same one again changes nothing."""
        wanted = program, digest(program)
        if self._wanted is None or wanted[1] != self._wanted[1]:
            self._wanted = wanted
            self._news.set()

    def forget(self) -> None:
        """Wants nothing of the encoder any more: it continues with what it has, and gets nothing else."""
        self._wanted = None

    def reported(self, revision: int, *, reconnected: bool) -> bool:
        """Notes the revision that the encoder reports; true where it carries another programme than ours.

        It has lost ours where it restarted without it; an operator that led before us may have replaced it.
        """
        self._known = max(self._known, revision)
        lost = self.pushed is not None and revision != self._acknowledged
        if lost:
            self.pushed = None
        if lost or reconnected:
            self._news.set()
        return lost

    async def run(self) -> None:
        """Pushes whatever is wanted; ends only when cancelled."""
        failures = 0
        while True:
            self._news.clear()
            delay_s = await self._attempt(failures)
            failures = 0 if delay_s is None else failures + 1
            await self._wait(delay_s)

    async def _attempt(self, failures: int) -> float | None:
        """Pushes what is wanted, if the encoder does not have it; gives the delay of a retry."""
        if self._wanted is None:
            return None
        program, wanted = self._wanted
        if wanted == self.pushed:
            self._set_refused(None)
            return None
        if not self._leads():
            return RETRY_MAX_S
        try:
            await self._push(program, wanted)
        except RevisionStale as error:
            self._known = max(self._known, error.known)
            return backoff_s(failures, RETRY_MIN_S, RETRY_MAX_S) if failures else 0.0
        except EncoderUnreachable as error:
            log.debug("program.not-pushed", pod=self._pod, error=str(error))
            return backoff_s(failures, RETRY_MIN_S, RETRY_MAX_S)
        except ProgramRefused as error:
            self._set_refused(str(error))
            return backoff_s(failures, REFUSED_RETRY_MIN_S, REFUSED_RETRY_MAX_S)
        return None

    async def _push(self, program: Program, wanted: str) -> None:
        revision = max(self._known + 1, int(self._clock() * 1000))
        await self._put(program.model_copy(update={"revision": revision}))
        self._known = self._acknowledged = revision
        self.pushed, self.refused = wanted, None
        log.info("program.pushed", pod=self._pod, revision=revision, stop=program.stop)
        self._changed()

    def _set_refused(self, why: str | None) -> None:
        if why == self.refused:
            return
        self.refused = why
        if why:
            log.warning("program.refused", pod=self._pod, error=why)
        self._changed()

    async def _wait(self, delay_s: float | None) -> None:
        """Until there is news, or for the delay of a retry."""
        try:
            async with asyncio.timeout(delay_s):
                await self._news.wait()
        except TimeoutError:
            pass
