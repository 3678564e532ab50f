"""One encoder over HTTPS: its certificate is pinned, every request carries a short token.

A task keeps the encoder's status stream open, another one keeps in touch; programmes are pushed beside them.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import aiohttp
import structlog

from onair_crds.contract.pod import (
    CONTACT_PATH,
    PROGRAM_PATH,
    SERVER_NAME,
    STATUS_PATH,
    control_url,
    pinned,
)
from onair_crds.contract.program import Contact, EncoderStatus, Program
from onair_operator.encoder.contact import ContactKeeper
from onair_operator.encoder.identity import OperatorKey
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.encoder.unreachable import EncoderUnreachable

log = structlog.get_logger()

CONNECT_TIMEOUT_S = 3.0
PUSH_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 6.0
"""A status stream sends a line at least every 2 s; three times that is silence."""
MAX_STATUS_LINE = 4 * 1024 * 1024
RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0
PARTING_S = 5.0


class ProgramRefused(Exception):
    """The encoder will not carry this programme out (409: it knows a newer one)."""


def digest(program: Program) -> str:
    """Distinguishes programmes whatever their revision."""
    return hashlib.sha256(program.model_copy(update={"revision": 0}).wire().encode()).hexdigest()


class EncoderClient:
    """Follows one encoder from its construction to `close`; `changed` is called at every transition."""

    def __init__(
        self, pod: PodView, certificate_pem: str, key: OperatorKey, changed: Callable[[], None]
    ) -> None:
        self.pod = pod
        self.connected = False
        self.silent_since = time.monotonic()
        self._status: EncoderStatus | None = None
        self._pushed: str | None = None
        self._revision = 0
        self._changed = changed
        self._ssl = pinned(certificate_pem)
        self._key = key
        self._session = aiohttp.ClientSession(read_bufsize=MAX_STATUS_LINE)
        self._task = asyncio.create_task(self._follow(), name=f"follow {pod.name}")
        self._contact = ContactKeeper(self._put_contact, changed)
        self._keeping = asyncio.create_task(self._contact.run(), name=f"keep in touch with {pod.name}")

    @property
    def view(self) -> EncoderView:
        return EncoderView(
            self.pod.uid,
            self.connected,
            self._status,
            self._pushed,
            self.pod.ip,
            replaced=self._contact.replaced,
            yielded=self._contact.yielded,
        )

    async def close(self) -> None:
        for task in (self._task, self._keeping):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._session.close()

    def replace(self) -> None:
        """Tells the encoder that another one takes its place; the view says when it has yielded."""
        self._contact.replace()

    async def part(self) -> None:
        """Closes, once an encoder that still responds has yielded: nothing else will end it."""
        if self.connected:
            self.replace()
            await asyncio.wait({self._keeping}, timeout=PARTING_S)
        await self.close()

    async def push(self, program: Program) -> None:
        """Hands the programme over under a new revision, unless it is the one acknowledged.

        Revisions are milliseconds of the clock, so they grow over restarts of the operator too.

        Raises:
            EncoderUnreachable: no response; retry.
            ProgramRefused: the encoder knows a newer epoch or revision.
        """
        wanted = digest(program)
        if wanted == self._pushed:
            return
        revision = max(self._revision + 1, int(time.time() * 1000))
        await self._put(program.model_copy(update={"revision": revision}))
        self._revision, self._pushed = revision, wanted
        log.info("program.pushed", pod=self.pod.name, revision=revision, stop=program.stop)

    async def _put(self, program: Program) -> None:
        status, text = await self._request(PROGRAM_PATH, program.wire())
        if status == 409:
            raise ProgramRefused(text)
        if status >= 400:
            raise EncoderUnreachable(f"HTTP {status}: {text}")

    async def _put_contact(self, contact: Contact) -> None:
        status, text = await self._request(CONTACT_PATH, contact.wire())
        if status >= 400:
            raise EncoderUnreachable(f"HTTP {status}: {text}")

    async def _request(self, path: str, body: str) -> tuple[int, str]:
        """A PUT: the response's status, and how its text begins."""
        try:
            async with self._session.put(
                control_url(self.pod.ip or "", path),
                data=body.encode(),
                headers={**self._headers(), "Content-Type": "application/json"},
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=aiohttp.ClientTimeout(total=PUSH_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S),
            ) as response:
                return response.status, (await response.text())[:200]
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    async def _follow(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            try:
                async for status in self._statuses():
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
            delay_s = min(delay_s * 1.5, RETRY_MAX_S)

    async def _statuses(self) -> AsyncIterator[EncoderStatus]:
        """The encoder's status now and after every transition, until it falls silent."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S
        )
        try:
            async with self._session.get(
                control_url(self.pod.ip or "", STATUS_PATH),
                params={"follow": "1"},
                headers=self._headers(),
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=timeout,
            ) as response:
                if response.status >= 400:
                    raise EncoderUnreachable(f"HTTP {response.status}")
                async for line in response.content:
                    if line.strip():
                        yield EncoderStatus.model_validate_json(line)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    def _take(self, status: EncoderStatus) -> None:
        before = self._status
        self._status = status
        restarted = status.revision < self._revision
        if restarted:
            self._pushed = None  # the encoder has lost the programme that it had acknowledged
        if not self.connected or restarted or before is None or _reported(before) != _reported(status):
            self.connected = True
            self._changed()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key.token(self.pod.name, dt.datetime.now(dt.UTC))}"}


def _reported(status: EncoderStatus) -> object:
    """The part of it that a resource's status reports."""
    return (
        status.phase,
        status.broadcast,
        status.epoch,
        status.first_frame,
        status.composition_error,
        status.error,
        [(d.id, d.connect, d.since, d.last_error) for d in status.destinations],
    )
