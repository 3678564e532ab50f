"""Access tokens: RS256 JWTs, issued, renewed and verified."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import jwt

from onair_api.auth.api_keys import ApiKeys
from onair_api.auth.identity import Identity, Origin
from onair_api.auth.signing_keys import RendererPublicKey, SigningKeys
from onair_api.auth.verified_token import TokenKind, Verified
from onair_api.errors import PermissionDenied, Unauthenticated
from onair_api.metrics import TOKEN_VERIFICATIONS
from onair_api.settings import MAX_TOKEN_DURATION_MS, TokenSettings
from onair_crds.contract.json_web_keys import ALGORITHM
from onair_crds.contract.renderer_token import FIRST_ISSUED, KIND, RUN, SESSION
from onair_crds.shapes import Claims

REQUIRED = ["iss", "sub", "iat", "exp", "jti"]
MAX_TOKEN_CHARACTERS = 8192
MAX_LINEAGE = 16
RENEW_SHARE = 0.1
"""Last share of a token's life, in which it is renewed by any response."""

_REFUSED = "the access token is not valid: {}"


@dataclass(frozen=True)
class Issued:
    """A token that was issued."""

    token: str
    id: str
    expires: int
    """Unix seconds."""


class Tokens:
    """Issues, renews and verifies access tokens."""

    def __init__(
        self,
        keys: SigningKeys,
        settings: TokenSettings,
        now: Callable[[], float] = time.time,
        revoked: Callable[[str], bool] = lambda token_id: False,
        ended: Callable[[Origin], bool] = lambda origin: False,
        run_over: Callable[[Verified], bool] = lambda token: False,
        api_keys: ApiKeys | None = None,
    ) -> None:
        """
        Args:
            revoked: whether a token that is not for a session (DIRECT, EXCHANGE) was revoked.
            ended: whether a token, or one that it goes back to, was ended by a call.
            run_over: whether the run that a token is for is known to have ended.
            api_keys: those that are there; tokens of others are refused.
        """
        self._api_keys = api_keys
        self._keys = keys
        self._settings = settings
        self._now = now
        self._revoked = revoked
        self._ended = ended
        self._run_over = run_over
        self._cache: OrderedDict[bytes, Verified] = OrderedDict()
        self._renewed: OrderedDict[str, str] = OrderedDict()
        self._generation = keys.generation

    def now(self) -> float:
        """Unix seconds."""
        return self._now()

    def issue(self, identity: Identity, duration_ms: int) -> str:
        """A session token that lasts `duration_ms` from now, in whole seconds."""
        now = math.floor(self._now())
        return self._sign(_begun(identity), now, now + seconds(duration_ms), now).token

    def issue_guest(
        self,
        identity: Identity,
        kind: TokenKind,
        duration_ms: int,
        *,
        session_ms: int | None = None,
        first_issued: float | None = None,
        not_after: float | None = None,
    ) -> Issued:
        """A token of kind DIRECT or EXCHANGE.

        Args:
            session_ms: life of what an EXCHANGE token is redeemed for.
            first_issued: when the issuer's chain began, where issuing must not prolong it.
            not_after: end of the issuer's token, in Unix seconds.

        Raises:
            PermissionDenied: the issuer was invited by one who was invited, and so on.
        """
        if len(identity.lineage) >= MAX_LINEAGE:
            raise PermissionDenied(f"invitations by invited guests are at most {MAX_LINEAGE} deep")
        now = math.floor(self._now())
        first = now if first_issued is None else first_issued
        end = min(now + seconds(duration_ms), last_end(first))
        if not_after is not None:
            end = min(end, not_after)
        more: Claims = {KIND: kind.value}
        if session_ms is not None:
            more[SESSION] = seconds(session_ms)
        return self._sign(_begun(identity), now, end, first, more)

    def renew(self, old: Verified) -> str:
        """A session token of the same grants with a new life, within seven days of the first one."""
        now = math.floor(self._now())
        life = old.expires - old.issued if old.session_s is None else old.session_s
        end = min(now + life, last_end(old.first_issued))
        more: Claims = {RUN: old.run} if old.run else {}
        return self._sign(old.identity, now, end, old.first_issued, more).token

    def renewed_near_end(self, verified: Verified) -> str | None:
        """A successor for a session token in the last tenth of its life; the same one for every response."""
        left = verified.expires - self._now()
        if verified.kind is not TokenKind.SESSION or left > RENEW_SHARE * (
            verified.expires - verified.issued
        ):
            return None
        if verified.expires >= math.floor(last_end(verified.first_issued)):
            return None
        token = self._renewed.get(verified.id)
        if token is None:
            token = self._renewed[verified.id] = self.renew(verified)
            if len(self._renewed) > max(1, self._settings.cache_size):
                self._renewed.popitem(last=False)
        return token

    async def verify(self, authorization: str | None, *, redeeming: bool = False) -> Verified:
        """The caller of a request, from its `Authorization` header.

        Args:
            redeeming: accept EXCHANGE tokens, which are good for nothing but a refresh.

        Raises:
            Unauthenticated: there is no token, or it is not one of ours, or it has expired, or its API key
                was deleted.
            ApiError: the API server had to be asked and did not respond.
        """
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if not token or scheme.lower() != "bearer":
            raise Unauthenticated("an access token is required: Authorization: Bearer <ACCESS_TOKEN>")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise Unauthenticated(_REFUSED.format("it is too long"))
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        if self._generation != self._keys.generation:
            self._cache.clear()
            self._renewed.clear()
            self._generation = self._keys.generation
        known = self._cache.get(digest)
        if known is None:
            generation = self._generation
            known = await self._verify(token)
            # Once for each token, so that a replica that was restarted learns of earlier deletions
            if await self._lost_its_key(known.identity):
                raise Unauthenticated(_REFUSED.format("its API key was deleted"))
            if generation == self._keys.generation:
                self._remember(digest, known)
        else:
            self._cache.move_to_end(digest)
        if self.ended_with_its_key(known.identity):
            raise Unauthenticated(_REFUSED.format("its API key was deleted"))
        if self._ended(known.identity):
            raise Unauthenticated(_REFUSED.format("it was revoked"))
        if self._run_over(known):
            raise Unauthenticated(_REFUSED.format("its broadcast has ended"))
        if known.expires <= self._now():
            self._cache.pop(digest, None)
            raise Unauthenticated(_REFUSED.format("it has expired"))
        if known.kind is not TokenKind.SESSION:
            if self._revoked(known.id):
                raise Unauthenticated(REDEEMED)
            if known.kind is TokenKind.EXCHANGE and not redeeming:
                raise Unauthenticated(_REFUSED.format("it can only be refreshed to a session token"))
        return known

    async def read(self, token: str) -> Verified | None:
        """A token of ours, be it expired or revoked; None for anything else.

        Raises:
            ApiError: the API server had to be asked for the signing key and did not respond.
        """
        try:
            return await self._verify(token) if len(token) <= MAX_TOKEN_CHARACTERS else None
        except Unauthenticated:
            return None

    def ended_with_its_key(self, origin: Origin) -> bool:
        """Whether the API key that a token goes back to is known to be deleted."""
        key = origin.api_key
        return key is not None and self._api_keys is not None and self._api_keys.is_deleted(key)

    async def _lost_its_key(self, origin: Origin) -> bool:
        key = origin.api_key
        return bool(key and self._api_keys and not await self._api_keys.check(key))

    def known_to_have_ended(self, origin: Origin) -> bool:
        """Whether this replica knows that a token was revoked, or its API key or signing key deleted."""
        return (
            self._ended(origin)
            or self.ended_with_its_key(origin)
            or self._keys.is_deleted(origin.signing_key)
        )

    async def has_ended(self, origin: Origin) -> bool:
        """Whether what was given out for a token ends now, as that was revoked, or one of its keys deleted.

        Raises:
            ApiError: the API server had to be asked for the key and did not respond.
        """
        return (
            self._ended(origin)
            or await self._lost_its_key(origin)
            or not await self._keys.check(origin.signing_key)
        )

    def _sign(
        self,
        identity: Identity,
        now: float,
        end: float,
        first_issued: float,
        more: Claims | None = None,
    ) -> Issued:
        key = self._keys.newest()
        token_id = str(uuid.uuid4())
        claims = {
            "iss": self._settings.issuer,
            "iat": int(now),
            "exp": int(end),
            "jti": token_id,
            FIRST_ISSUED: int(first_issued),
            **(more or {}),
            **identity.claims(),
        }
        token = jwt.encode(claims, key.private, algorithm=ALGORITHM, headers={"kid": key.kid})
        return Issued(token, token_id, int(end))

    async def _verify(self, token: str) -> Verified:
        TOKEN_VERIFICATIONS.inc()
        try:
            kid = jwt.get_unverified_header(token).get("kid")
            key = await self._keys.find(kid) if isinstance(kid, str) else None
            if key is None:
                raise Unauthenticated(_REFUSED.format("its key is unknown"))
            claims: Claims = jwt.decode(
                token,
                key.public,
                algorithms=[ALGORITHM],
                issuer=self._settings.issuer,
                options={"require": REQUIRED, "verify_iat": False, "verify_exp": False, "verify_aud": False},
            )
            verified = Verified.of_claims(claims, key.kid)
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise Unauthenticated(_REFUSED.format("it cannot be verified")) from error
        if isinstance(key, RendererPublicKey) and not verified.of_renderer:
            raise Unauthenticated(_REFUSED.format("its key is not for such a token"))
        return verified

    def _remember(self, digest: bytes, verified: Verified) -> None:
        if self._settings.cache_size == 0:
            return
        self._cache[digest] = verified
        if len(self._cache) > self._settings.cache_size:
            self._cache.popitem(last=False)


REDEEMED = _REFUSED.format("it was redeemed or revoked")


def _begun(identity: Identity) -> Identity:
    """The identity of a token that is no other's successor."""
    return replace(identity, lineage=(*identity.lineage, secrets.token_hex(8)))


def seconds(duration_ms: int) -> int:
    """Whole seconds, at least one."""
    return max(1, math.ceil(duration_ms / 1000))


def last_end(first_issued: float) -> float:
    """When the last token of a chain of refreshes ends, in Unix seconds."""
    return first_issued + MAX_TOKEN_DURATION_MS / 1000
