"""What a verified access token says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from onair_api.auth.identity import Identity
from onair_crds.contract.renderer_token import FIRST_ISSUED, KIND, RUN, SESSION
from onair_crds.resources.enums import Role
from onair_crds.shapes import Claims


class TokenKind(StrEnum):
    """How a token may be used."""

    SESSION = "session"
    DIRECT = "direct"
    """Usable as it is; its first refresh gives a session token and revokes it."""
    EXCHANGE = "exchange"
    """Can only be refreshed, any number of times; each gives a session token."""


@dataclass(frozen=True)
class Verified:
    """What a verified token says."""

    identity: Identity
    issued: float
    expires: float
    first_issued: float
    id: str
    kind: TokenKind = TokenKind.SESSION
    session_s: float | None = None
    """Life of a session token that an EXCHANGE token is redeemed for."""
    run: str | None = None
    """Of a page's token, and of the sessions it is redeemed for: the run that it is for, and ends with."""

    @property
    def of_renderer(self) -> bool:
        """Whether it is a page's token, as the operator signs them."""
        identity = self.identity
        guest = identity.guest
        return (
            self.kind is TokenKind.EXCHANGE
            and identity.role is Role.RENDERER
            and not identity.scopes
            and guest is not None
            and guest.project_uid != ""
            and self.run is not None
            and self.session_s is not None
        )

    @classmethod
    def of_claims(cls, claims: Claims, signing_key: str) -> Verified:
        """Decodes what a token says, which the key of this id signed.

        Raises:
            ValueError, TypeError, OverflowError: they are not of the form that this service writes.
        """
        issued = float(claims["iat"])
        session_s = claims.get(SESSION)
        run = claims.get(RUN)
        return cls(
            Identity.from_claims(claims, signing_key),
            issued,
            float(claims["exp"]),
            float(claims.get(FIRST_ISSUED, issued)),
            str(claims["jti"]),
            TokenKind(claims.get(KIND, TokenKind.SESSION)),
            None if session_s is None else float(session_s),
            None if run is None else str(run),
        )
