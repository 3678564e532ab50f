"""One encoder over HTTPS: its certificate is pinned, every request carries a short token.

Tasks of its own keep the encoder's status stream open, hand programmes over, and keep in touch.
"""

from __future__ import annotations

import asyncio
import datetime as dt
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
from onair_operator.encoder.observed import EncoderView, PodView, reported
from onair_operator.encoder.program_push import ProgramPush, ProgramRefused, RevisionStale
from onair_operator.encoder.unreachable import EncoderUnreachable

log = structlog.get_logger()

CONNECT_TIMEOUT_S = 3.0
PUSH_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 6.0
"""A status stream sends a line at least every 2 s; three times that is silence."""
MAX_STATUS_LINE = 4 * 1024 * 1024
MAX_REASON = 200
"""Characters of a response that a message repeats."""
RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0
PARTING_S = 2.0


class EncoderClient:
    """Follows one encoder from its construction to `close`; `changed` is called at every transition."""

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
        self._ssl = pinned(certificate_pem)
        self._key = key
        self._session = aiohttp.ClientSession(read_bufsize=MAX_STATUS_LINE)
        self._push = ProgramPush(pod.name, self._put, changed, leads)
        self._contact = ContactKeeper(self._put_contact, changed, leads)
        self._keeping, self._following = self._begin()
        self._pushing = asyncio.create_task(self._push.run(), name=f"push to {pod.name}")
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
            self._push.settled,
            self.pod.ip,
            self._push.refused,
            replaced=self._contact.replaced,
            yielded=self._contact.yielded,
            silent_s=0.0 if self.connected else time.monotonic() - self.silent_since,
        )

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._session.close()

    def replace(self) -> None:
        """Tells the encoder that another one takes its place; the view says when it has yielded.

        A programme that it does not have yet is not for it any more. Nor is any other request: an encoder
        that is out of touch would take it for a sign that it is wanted, and publish until it hears the next.
        """
        if self._contact.replaced:
            return
        self._push.forget()
        self._pushing.cancel()
        self._contact.replace()
        if not self.connected:
            for task in (self._keeping, self._following):
                task.cancel()
            self._keeping, self._following = self._begin()
            self._tasks += [self._keeping, self._following]

    async def part(self) -> None:
        """Closes, once an encoder that still responds has yielded: nothing else will end it."""
        if self.connected:
            self.replace()
            await asyncio.wait({self._keeping}, timeout=PARTING_S)
        await self.close()

    def want(self, program: Program) -> None:
        """Hands the programme over in the background, until the encoder has acknowledged it."""
        self._push.want(program)

    async def _put(self, program: Program) -> None:
        """
        Raises:
            EncoderUnreachable: no response, or a failure of its own.
            RevisionStale: the encoder knows a newer revision.
            ProgramRefused: it does not take this programme, or no request of ours.
        """
        status, text = await self._request("PUT", PROGRAM_PATH, program.wire())
        if status == 409:
            known = await self._known_status()
            same_run = (known.broadcast, known.epoch) == (program.broadcast, program.epoch)
            if same_run and known.revision >= program.revision:
                raise RevisionStale(known.revision)
        if status >= 500:
            raise EncoderUnreachable(f"HTTP {status}: {text[:MAX_REASON]}")
        if status >= 400:
            raise ProgramRefused(f"HTTP {status}: {text[:MAX_REASON]}")

    async def _known_status(self) -> EncoderStatus:
        status, text = await self._request("GET", STATUS_PATH)
        if status >= 400:
            raise EncoderUnreachable(f"HTTP {status}")
        try:
            return EncoderStatus.model_validate_json(text)
        except ValueError as error:
            raise EncoderUnreachable(type(error).__name__) from error

    async def _put_contact(self, contact: Contact) -> None:
        status, text = await self._request("PUT", CONTACT_PATH, contact.wire())
        if status >= 400:
            raise EncoderUnreachable(f"HTTP {status}: {text[:MAX_REASON]}")

    async def _request(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """The response's status and text."""
        headers = {**self._headers(), **({"Content-Type": "application/json"} if body else {})}
        try:
            async with self._session.request(
                method,
                control_url(self.pod.ip or "", path),
                data=body.encode() if body else None,
                headers=headers,
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=aiohttp.ClientTimeout(total=PUSH_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S),
            ) as response:
                return response.status, await response.text()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    async def _follow(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            if self._contact.replaced:
                await asyncio.wait({self._keeping})
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
        lost = self._push.reported(status.revision, reconnected=not self.connected)
        if not self.connected or lost or before is None or reported(before) != reported(status):
            self.connected = True
            self._changed()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key.token(self.pod.name, dt.datetime.now(dt.UTC))}"}
