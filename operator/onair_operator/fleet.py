"""Follows every claimed encoder's status and hands programmes over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import structlog

from onair_crds.contract.program import EncoderStatus, Program
from onair_operator.encoder_client import EncoderClient, EncoderUnreachable
from onair_operator.identity import OperatorKey
from onair_operator.observed import EncoderView, PodView
from onair_operator.wanted import digest

log = structlog.get_logger()

RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0


class Follower:
    """One encoder: a task that keeps its status stream open, and what it said last."""

    def __init__(self, pod: PodView, client: EncoderClient, changed: Callable[[], None]) -> None:
        self.pod = pod
        self.client = client
        self.status: EncoderStatus | None = None
        self.connected = False
        self.silent_since = time.monotonic()
        self.pushed: str | None = None
        self._revision = 0
        self._changed = changed
        self._task = asyncio.create_task(self._run(), name=f"follow {pod.name}")

    async def _run(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            try:
                async for status in self.client.follow():
                    delay_s = RETRY_MIN_S
                    self._heard(status)
            except EncoderUnreachable as error:
                log.debug("encoder.unreachable", pod=self.pod.name, error=str(error))
            if self.connected:
                log.info("encoder.silent", pod=self.pod.name)
                self.connected = False
                self.silent_since = time.monotonic()
                self._changed()
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 1.5, RETRY_MAX_S)

    def _heard(self, status: EncoderStatus) -> None:
        before = self.status
        self.status = status
        restarted = status.revision < self._revision
        if restarted:
            self.pushed = None  # the encoder has lost the programme that it had acknowledged
        if not self.connected or restarted or before is None or _transition(before, status):
            self.connected = True
            self._changed()

    async def push(self, program: Program) -> None:
        """Hands the programme over under a new revision, unless it is the one acknowledged.

        Revisions are milliseconds of the clock, so they grow over restarts of the operator too.
        """
        wanted = digest(program)
        if wanted == self.pushed:
            return
        revision = max(self._revision + 1, int(time.time() * 1000))
        await self.client.push(program.model_copy(update={"revision": revision}))
        self._revision, self.pushed = revision, wanted
        log.info("program.pushed", pod=self.pod.name, revision=revision, stop=program.stop)

    @property
    def view(self) -> EncoderView:
        return EncoderView(self.pod.uid, self.connected, self.status, self.pushed)

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self.client.close()


def _transition(before: EncoderStatus, after: EncoderStatus) -> bool:
    """Whether something changed that a resource's status would tell."""
    return _told(before) != _told(after)


def _told(status: EncoderStatus) -> object:
    return (
        status.phase,
        status.broadcast,
        status.epoch,
        status.first_frame,
        status.composition_error,
        status.error,
        [(d.id, d.connect, d.since, d.last_error) for d in status.destinations],
    )


class Fleet:
    """All followers, by pod uid."""

    def __init__(self, key: OperatorKey, changed: Callable[[str], None]) -> None:
        self._key = key
        self._changed = changed
        self._followers: dict[str, Follower] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def follow(self, project: str, pod: PodView, certificate_pem: str) -> None:
        """Follows a claimed pod from now on; a new address starts a new follower."""
        known = self._followers.get(pod.uid)
        if known and known.pod.ip == pod.ip:
            return
        if known:
            self.drop(pod.uid)
        if pod.ip:
            client = EncoderClient(pod.name, pod.ip, certificate_pem, self._key)
            self._followers[pod.uid] = Follower(pod, client, lambda: self._changed(project))

    def drop(self, pod_uid: str) -> None:
        if follower := self._followers.pop(pod_uid, None):
            task = asyncio.create_task(follower.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def follower(self, pod_uid: str) -> Follower | None:
        return self._followers.get(pod_uid)

    def views(self, pod_uids: list[str]) -> dict[str, EncoderView]:
        return {uid: self._followers[uid].view for uid in pod_uids if uid in self._followers}

    def silent_nodes(self, for_s: float) -> set[str]:
        """Nodes of encoders that have not been heard for so long."""
        now = time.monotonic()
        return {
            f.pod.node
            for f in self._followers.values()
            if f.pod.node and not f.connected and now - f.silent_since >= for_s
        }

    async def close(self) -> None:
        for uid in list(self._followers):
            self.drop(uid)
        await asyncio.gather(*self._closing, return_exceptions=True)
