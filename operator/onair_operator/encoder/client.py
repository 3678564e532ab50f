"""Follows one encoder: tasks keep its status stream open, hand programmes over, and keep in touch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import structlog

from onair_crds.contract.program import EncoderStatus
from onair_operator.encoder.connection import EncoderConnection
from onair_operator.encoder.contact import ContactKeeper
from onair_operator.encoder.observed import EncoderView, PodView, reported
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.encoder.program_push import ProgramPush
from onair_operator.encoder.unreachable import EncoderUnreachable

log = structlog.get_logger()

RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0
STARTING_RETRY_MAX_S = 0.2
"""While an encoder starts: its show waits, and an attempt costs little where nobody listens yet."""
STARTING_S = 60.0
"""From when its pod has an address, which it has before its image is there."""
PARTING_S = 2.0


class EncoderClient:
    """Follows one encoder from its construction to `close`; `changed` is called at every transition.

    Nothing that it holds refers back to it once its tasks have ended: part of a circle, it would never be
    freed in a process that leaves old objects out of collections of garbage.
    """

    def __init__(
        self,
        pod: PodView,
        certificate_pem: str,
        key: OperatorKey,
        changed: Callable[[], None],
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        self.pod = pod
        self.connected = False
        self.silent_since = time.monotonic()
        self._status: EncoderStatus | None = None
        self._changed = changed
        self._connection = connection = EncoderConnection(pod, certificate_pem, key)
        self.push = ProgramPush(pod.name, connection.put_program, changed, leads)
        self._contact = ContactKeeper(connection.put_contact, changed, leads)
        self._keeping, self._following = self._begin()
        self._pushing = asyncio.create_task(self.push.run(), name=f"push to {pod.name}")
        self._tasks = [self._pushing, self._keeping, self._following]

    def _begin(self) -> tuple[asyncio.Task[None], asyncio.Task[None]]:
        return (
            asyncio.create_task(self._contact.run(), name=f"keep in touch with {self.pod.name}"),
            asyncio.create_task(self._follow(), name=f"follow {self.pod.name}"),
        )

    @property
    def view(self) -> EncoderView:
        return EncoderView(
            self.pod.uid,
            self.connected,
            self._status,
            self.push.settled,
            self.pod.ip,
            self.push.refused,
            replaced=self._contact.replaced,
            stopped=self._contact.stopped,
            yielded=self._contact.yielded,
            silent_s=0.0 if self.connected else time.monotonic() - self.silent_since,
        )

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._connection.close()

    def replace(self) -> None:
        """Tells the encoder that another one takes its place; the view says when it has yielded.

        A programme that it does not have yet is not for it any more. Nor is any other request: an encoder
        that is out of touch would take it for a sign that it is wanted, and publish until it hears the next.
        """
        if self._contact.replaced:
            return
        self.push.forget()
        self._pushing.cancel()
        self._contact.replace()
        if not self.connected:
            for task in (self._keeping, self._following):
                task.cancel()
            self._keeping, self._following = self._begin()
            self._tasks += [self._keeping, self._following]

    def stop(self) -> None:
        """Tells the encoder that its run is over, whether it takes the programme that says so or not."""
        self._contact.stop()

    async def part(self) -> None:
        """Closes, once an encoder that still responds has yielded: nothing else will end it."""
        if self.connected:
            self.replace()
            await asyncio.wait({self._keeping}, timeout=PARTING_S)
        await self.close()

    async def _follow(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            if self._contact.replaced:
                await asyncio.wait({self._keeping})
            try:
                async for status in self._connection.statuses():
                    delay_s = RETRY_MIN_S
                    self._take(status)
            except EncoderUnreachable as error:
                log.debug("encoder.unreachable", pod=self.pod.name, error=str(error))
            if self.connected:
                log.info("encoder.silent", pod=self.pod.name)
                self.connected = False
                self.silent_since = time.monotonic()
                self._changed()
            await asyncio.sleep(delay_s)
            starting = self._status is None and time.monotonic() - self.silent_since < STARTING_S
            delay_s = min(delay_s * 1.5, STARTING_RETRY_MAX_S if starting else RETRY_MAX_S)

    def _take(self, status: EncoderStatus) -> None:
        before = self._status
        self._status = status
        lost = self.push.reported(status.revision, reconnected=not self.connected)
        if not self.connected or lost or before is None or reported(before) != reported(status):
            self.connected = True
            self._changed()
