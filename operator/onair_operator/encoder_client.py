"""Speaks with one encoder over HTTPS: its certificate is pinned, every request carries a short token."""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import AsyncIterator

import aiohttp

from onair_crds.contract.pod import CONTROL_PORT, SERVER_NAME
from onair_crds.contract.program import EncoderStatus, Program
from onair_operator.identity import OperatorKey

CONNECT_TIMEOUT_S = 3.0
PUSH_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 6.0
"""A status stream speaks at least every 2 s; three times that is silence."""
MAX_STATUS_LINE = 4 * 1024 * 1024


class EncoderUnreachable(Exception):
    """The encoder did not answer, or broke off."""


class ProgramRefused(Exception):
    """The encoder answered that it will not carry this programme out (409: a newer one is known)."""


class EncoderClient:
    def __init__(self, pod: str, ip: str, certificate_pem: str, key: OperatorKey) -> None:
        self._pod = pod
        self._base = f"https://{f'[{ip}]' if ':' in ip else ip}:{CONTROL_PORT}/v1"
        self._ssl = ssl.create_default_context(cadata=certificate_pem)
        self._key = key
        self._session = aiohttp.ClientSession(read_bufsize=MAX_STATUS_LINE)

    async def close(self) -> None:
        await self._session.close()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key.token(self._pod, dt.datetime.now(dt.UTC))}"}

    async def push(self, program: Program) -> None:
        """Hands over a programme.

        Raises:
            EncoderUnreachable: no answer; try again.
            ProgramRefused: the encoder knows a newer epoch or revision.
        """
        try:
            async with self._session.put(
                f"{self._base}/program",
                data=program.wire().encode(),
                headers={**self._headers(), "Content-Type": "application/json"},
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=aiohttp.ClientTimeout(total=PUSH_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S),
            ) as answer:
                if answer.status == 409:
                    raise ProgramRefused((await answer.text())[:200])
                if answer.status >= 400:
                    raise EncoderUnreachable(f"HTTP {answer.status}: {(await answer.text())[:200]}")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error

    async def follow(self) -> AsyncIterator[EncoderStatus]:
        """The encoder's status now and after every transition, until it falls silent.

        Raises:
            EncoderUnreachable: no connection, or it broke off.
        """
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S
        )
        try:
            async with self._session.get(
                f"{self._base}/status",
                params={"follow": "1"},
                headers=self._headers(),
                ssl=self._ssl,
                server_hostname=SERVER_NAME,
                timeout=timeout,
            ) as answer:
                if answer.status >= 400:
                    raise EncoderUnreachable(f"HTTP {answer.status}")
                async for line in answer.content:
                    if line.strip():
                        yield EncoderStatus.model_validate_json(line)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise EncoderUnreachable(str(error) or type(error).__name__) from error
