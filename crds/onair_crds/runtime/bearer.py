"""Checks the bearer token of a request."""

from __future__ import annotations

import hmac

SCHEME = "Bearer "


def shows_token(authorization: str, token: str) -> bool:
    """Whether an `Authorization` header shows this token; the time that it takes says nothing of the token.

    Args:
        authorization: as aiohttp gives it: bytes that are no UTF-8 are surrogates, which a stranger may send.
    """
    shown = authorization.encode(errors="surrogateescape")
    return hmac.compare_digest(shown, (SCHEME + token).encode())
