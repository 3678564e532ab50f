"""One source that is pulled: attempts, with growing pauses between them, until it is wanted no more."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from onair_crds.backoff import backoff_s
from onair_crds.runtime.to_its_end import to_its_end
from onair_ingest.mediamtx.client import MediaMtx, MediaMtxUnavailable
from onair_ingest.pulls.address import PullAddress, parse_address
from onair_ingest.pulls.address_guard import AddressGuard, PullRefused
from onair_ingest.pulls.relay import Relay
from onair_ingest.pulls.retry_turns import RetryTurns
from onair_ingest.streams.key import PULLS

log = structlog.get_logger()

NO_MEDIA_S = 10.0
"""A pull that brings no media for this long is retried."""
RECONNECT_S = 1.0
"""MediaMTX connects a second time where the server asks for a password."""
OFTEN = 3
"""Failures in a row, after which a pull waits for its turn."""


@dataclass(frozen=True)
class Pauses:
    """Between attempts, with full jitter on the upper half."""

    first_s: float
    longest_s: float

    def after(self, failures: int, jitter: float) -> float:
        """The pause after so many failures in a row; `jitter` is 0 to 1."""
        return self.most_s(failures) * (0.5 + jitter / 2)

    def most_s(self, failures: int) -> float:
        """The longest that it may be."""
        return backoff_s(failures - 1, self.first_s, self.longest_s)


class PullTask:
    """Runs as a task of its own.

    Args:
        turns: of all pulls of this gateway.
        flows: whether its media arrives.
        failed: called with why an attempt failed, and within how many seconds the next one is.
    """

    def __init__(
        self,
        stream: str,
        url: str,
        mediamtx: MediaMtx,
        guard: AddressGuard,
        tls: ssl.SSLContext,
        pauses: Pauses,
        turns: RetryTurns,
        flows: Callable[[], bool],
        failed: Callable[[str, int], None],
    ) -> None:
        self.stream, self.url = stream, url
        self._path = PULLS + stream.removeprefix("pull-")
        self._mediamtx = mediamtx
        self._guard = guard
        self._tls = tls
        self._pauses = pauses
        self._turns = turns
        self._flows = flows
        self._failed = failed
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """Notes that its media, or its connection, has begun or ended: nothing is looked at in between."""
        self._changed.set()

    async def run(self) -> None:
        failures = source_failures = 0
        while True:
            try:
                flowed, reason = await self._attempt(parse_address(self.url), source_failures)
                source_failures = 0 if flowed else source_failures + 1
            except PullRefused as refused:
                flowed, reason = False, str(refused)
                source_failures += 1
            except MediaMtxUnavailable:
                flowed, reason = False, "the ingest server does not respond"
                source_failures = 0
            except OSError as error:
                flowed, reason = False, f"the ingest gateway opens no connection: {error.strerror}"
            failures = 1 if flowed else failures + 1
            pause_s = self._pauses.after(failures, random.random())  # noqa: S311 - spreads load
            log.warning("pull.failed", stream=self.stream, error=reason, retry_in_s=round(pause_s, 1))
            self._failed(reason, math.ceil(self._pauses.most_s(failures)))
            await asyncio.sleep(pause_s)

    async def _attempt(self, address: PullAddress, failures: int) -> tuple[bool, str]:
        """Pulls until that ends; gives whether media came, and why it ended.

        Args:
            failures: how often the source's server has failed in a row.
        """
        relay = Relay(address, self._guard, self._tls, self.changed)
        if failures:
            # A server that does not respond costs the ingest server nothing
            await relay.check()
        async with relay as url:
            try:
                async with self._turns.turn() if failures >= OFTEN else contextlib.nullcontext():
                    await self._mediamtx.set_path(self._path, url)
                return await self._until_over(relay)
            finally:
                await to_its_end(self._remove())

    async def _remove(self) -> None:
        try:
            await self._mediamtx.delete_path(self._path)
        except MediaMtxUnavailable:
            log.warning("pull.path_left_behind", stream=self.stream)

    async def _until_over(self, relay: Relay) -> tuple[bool, str]:
        loop = asyncio.get_running_loop()
        flowed, silent_since_s = False, loop.time()
        while True:
            self._changed.clear()
            now_s, flows = loop.time(), self._flows()
            flowed |= flows
            closed_s = relay.closed_at_s
            if closed_s is not None and (flowed or now_s - closed_s >= RECONNECT_S):
                return flowed, relay.error or relay.closed
            if not flows and now_s - silent_since_s >= NO_MEDIA_S:
                return flowed, f"no media arrived from {relay.server} for {NO_MEDIA_S:g} s"
            due_s = [] if flows else [silent_since_s + NO_MEDIA_S]
            due_s += [] if closed_s is None else [closed_s + RECONNECT_S]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(due_s, default=None)):
                    await self._changed.wait()
            if flows:
                silent_since_s = loop.time()
