"""Sessions at the facade, by the page's token."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import aiohttp

from onair_crds.contract.facade_paths import TOKEN_PATH
from onair_crds.contract.program import Program

CONNECT_TIMEOUT_S = 5.0
UNAUTHENTICATED = 401


class FacadeUnavailable(Exception):
    """The facade cannot be asked now; the text says why, without secrets."""


class TokenRefused(FacadeUnavailable):
    """The facade responds, and does not know the page's token."""


@dataclass(frozen=True)
class FacadeAccess:
    """Where the facade is, and what opens sessions there for one encoder of a run."""

    facade: str
    token: str
    collection: str
    project: str
    session: str
    """Names the sessions, so that one that follows another continues where that ended."""


def facade_access(program: Program) -> FacadeAccess | None:
    """How the page reaches the facade; None if a programme does not say, or is over."""
    if not (program.page_token and program.facade_url and program.collection) or program.stop:
        return None
    return FacadeAccess(
        program.facade_url,
        program.page_token.get_secret_value(),
        program.collection,
        program.project,
        f"renderer-{program.project}-{program.broadcast}-{program.epoch}",
    )


def client_session() -> aiohttp.ClientSession:
    """An HTTP session with the facade."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S))


async def session_token(session: aiohttp.ClientSession, access: FacadeAccess) -> str:
    """A session token for the page's.

    Raises:
        FacadeUnavailable: the facade gives none.
        ClientError, TimeoutError: it does not respond.
    """
    headers = {"Authorization": f"Bearer {access.token}"}
    async with (
        asyncio.timeout(CONNECT_TIMEOUT_S),
        session.put(
            f"{access.facade}{TOKEN_PATH}", json={}, headers=headers, allow_redirects=False
        ) as response,
    ):
        if response.status == UNAUTHENTICATED:
            raise TokenRefused(f"HTTP {response.status} to the page's token")
        if response.status != 200:
            raise FacadeUnavailable(f"HTTP {response.status} to the page's token")
        return response.headers.get("Authorization", "").removeprefix("Bearer ")
