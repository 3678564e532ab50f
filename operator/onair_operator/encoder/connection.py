"""The requests to one encoder over HTTPS: its certificate is pinned, every request carries a short token."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from onair_crds.contract.pod import (
    CONTACT_PATH,
    PROGRAM_PATH,
    SERVER_NAME,
    STATUS_PATH,
    control_url,
    pinned,
)
from onair_crds.contract.program import Contact, EncoderStatus, Program
from onair_operator.encoder.observed import PodView
from onair_operator.encoder.pod_identity import OperatorKey
from onair_operator.encoder.program_push import ProgramRefused, RevisionStale
from onair_operator.encoder.unreachable import EncoderUnreachable

CONNECT_TIMEOUT_S = 3.0
PUSH_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 6.0
"""A status stream sends a line at least every 2 s; three times that is silence."""
MAX_STATUS_LINE = 4 * 1024 * 1024
MAX_REASON = 200
"""Characters of a response that a message repeats."""


class EncoderConnection:
    def __init__(self, pod: PodView, certificate_pem: str, key: OperatorKey) -> None:
        self._pod = pod
        self._ssl = pinned(certificate_pem)
        self._key = key
        self._session = aiohttp.ClientSession(read_bufsize=MAX_STATUS_LINE)

    async def close(self) -> None:
        await self._session.close()

    async def put_program(self, program: Program) -> None:
        """Hands the encoder a programme.

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

    async def put_contact(self, contact: Contact) -> None:
        status, text = await self._request("PUT", CONTACT_PATH, contact.wire())
        if status >= 400:
            raise EncoderUnreachable(f"HTTP {status}: {text[:MAX_REASON]}")

    async def _request(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """The response's status and text."""
        headers = {**self._headers(), **({"Content-Type": "application/json"} if body else {})}
        try:
            async with self._session.request(
                method,
                control_url(self._pod.ip or "", path),
                data=body.encode() if body else None,
                headers=headers,
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=aiohttp.ClientTimeout(total=PUSH_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S),
            ) as response:
                return response.status, await response.text()
        except (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError, ValueError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    async def statuses(self) -> AsyncIterator[EncoderStatus]:
        """The encoder's status now and after every transition, until it falls silent."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S
        )
        try:
            async with self._session.get(
                control_url(self._pod.ip or "", STATUS_PATH),
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
        except (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError, ValueError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key.token(self._pod.name, dt.datetime.now(dt.UTC))}"}
