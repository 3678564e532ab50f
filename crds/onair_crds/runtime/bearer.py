"""Checks the bearer token of a request."""

from __future__ import annotations

import hmac

SCHEME = "Bearer "


def shows_token(authorization: str, token: str) -> bool:
    """Whether an `Authorization` header shows this token; the time that it takes says nothing of the token.

    Args:
        authorization: as aiohttp gives it: bytes that are no UTF-8 are surrogates, which a stranger may send.
    """
    return hmac.compare_digest(_bytes(authorization), (SCHEME + token).encode())


def token_of(authorization: str) -> bytes:
    """The token that an `Authorization` header shows, whatever it is.

    Args:
        authorization: as aiohttp gives it.
    """
    return _bytes(authorization).removeprefix(SCHEME.encode())


def _bytes(header: str) -> bytes:
    return header.encode(errors="surrogateescape")
