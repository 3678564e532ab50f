"""Access tokens: RS256 JWTs, issued, renewed and verified."""

from __future__ import annotations

import hashlib
import math
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jwt

from onair_api.auth.identity import Identity
from onair_api.auth.signing_keys import SigningKeys
from onair_api.errors import Unauthenticated
from onair_api.metrics import TOKEN_VERIFICATIONS
from onair_api.settings import MAX_TOKEN_DURATION_MS, TokenSettings

ALGORITHM = "RS256"
REQUIRED = ["iss", "sub", "iat", "exp", "jti"]
MAX_TOKEN_CHARACTERS = 8192
FIRST_ISSUED = "auth_time"
"""Claim: when the first token of this chain of refreshes was issued."""

_REFUSED = "the access token is not valid: {}"


@dataclass(frozen=True)
class Verified:
    identity: Identity
    issued: float
    expires: float
    first_issued: float


class Tokens:
    def __init__(
        self, keys: SigningKeys, settings: TokenSettings, now: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._settings = settings
        self._now = now
        self._cache: OrderedDict[bytes, Verified] = OrderedDict()
        self._generation = keys.generation

    def issue(self, identity: Identity, duration_ms: int, *, first_issued: float | None = None) -> str:
        """A token that lasts `duration_ms` from now, in whole seconds."""
        now = math.floor(self._now())
        return self._sign(identity, now, now + max(1, math.ceil(duration_ms / 1000)), first_issued or now)

    def renew(self, old: Verified) -> str:
        """A token of the same grants with a new life as long, within seven days of the first one."""
        now = math.floor(self._now())
        end = min(now + (old.expires - old.issued), old.first_issued + MAX_TOKEN_DURATION_MS / 1000)
        return self._sign(old.identity, now, math.floor(end), old.first_issued)

    async def verify(self, authorization: str | None) -> Verified:
        """The caller of a request, from its `Authorization` header.

        Raises:
            Unauthenticated: there is no token, or it is not one of ours, or it has ended.
        """
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if not token or scheme.lower() != "bearer":
            raise Unauthenticated("an access token is needed: Authorization: Bearer <ACCESS_TOKEN>")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise Unauthenticated(_REFUSED.format("it is too long"))
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        if self._generation != self._keys.generation:
            self._cache.clear()
            self._generation = self._keys.generation
        known = self._cache.get(digest)
        if known is None:
            known = await self._verify(token)
            self._remember(digest, known)
        else:
            self._cache.move_to_end(digest)
        if known.expires <= self._now():
            self._cache.pop(digest, None)
            raise Unauthenticated(_REFUSED.format("it has expired"))
        return known

    def _sign(self, identity: Identity, now: float, end: float, first_issued: float) -> str:
        key = self._keys.newest()
        claims = {
            "iss": self._settings.issuer,
            "iat": int(now),
            "exp": int(end),
            "jti": str(uuid.uuid4()),
            FIRST_ISSUED: int(first_issued),
            **identity.claims(),
        }
        return jwt.encode(claims, key.private, algorithm=ALGORITHM, headers={"kid": key.kid})

    async def _verify(self, token: str) -> Verified:
        TOKEN_VERIFICATIONS.inc()
        try:
            kid = jwt.get_unverified_header(token).get("kid")
            key = await self._keys.find(kid) if isinstance(kid, str) else None
            if key is None:
                raise Unauthenticated(_REFUSED.format("its key is unknown"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key.public,
                algorithms=[ALGORITHM],
                issuer=self._settings.issuer,
                options={"require": REQUIRED, "verify_iat": False, "verify_exp": False, "verify_aud": False},
            )
            identity = Identity.from_claims(claims)
            issued, expires = float(claims["iat"]), float(claims["exp"])
            return Verified(identity, issued, expires, float(claims.get(FIRST_ISSUED, issued)))
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise Unauthenticated(_REFUSED.format("it cannot be verified")) from error

    def _remember(self, digest: bytes, verified: Verified) -> None:
        if self._settings.cache_size == 0:
            return
        self._cache[digest] = verified
        if len(self._cache) > self._settings.cache_size:
            self._cache.popitem(last=False)
