"""Access tokens: for backends and guests, renewal and redemption, test tokens, public keys."""

from __future__ import annotations

from typing import Any

from onair_api.access.ownership import owned_project
from onair_api.auth.api_keys import ApiKeys, Service
from onair_api.auth.identity import SCOPE_CREATE, GuestControl, Identity
from onair_api.auth.revocation import RevokedTokens
from onair_api.auth.roles import authorize_issue
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.tokens import REDEEMED, Issued, TokenKind, Tokens, Verified
from onair_api.cache.cluster import Cluster
from onair_api.errors import NotFound, PermissionDenied, Unauthenticated
from onair_api.live.authentication.requests import BackendRequest, GuestRequest, backend_request
from onair_api.settings import TokenSettings
from onair_api.writes.identifiers import new_id
from onair_crds.resources.enums import Role


class Authentication:
    def __init__(
        self,
        cluster: Cluster,
        tokens: Tokens,
        keys: SigningKeys,
        api_keys: ApiKeys,
        revoked: RevokedTokens,
        settings: TokenSettings,
    ) -> None:
        self._cluster = cluster
        self._tokens = tokens
        self._keys = keys
        self._api_keys = api_keys
        self._revoked = revoked
        self._settings = settings

    def create(self, service: Service, body: dict[str, Any]) -> dict[str, Any]:
        """A token for a session host, asked for by a backend."""
        asked = backend_request(body, self._settings)
        return {"accessToken": self._tokens.issue(backend_identity(service, asked), asked.duration_ms)}

    def test_token(self, service: Service) -> dict[str, Any]:
        """A token that verifies and grants nothing."""
        identity = Identity(service.id, "", "", None, ())
        return {"accessToken": self._tokens.issue(identity, self._settings.default_duration_ms)}

    async def create_guest(self, issuer: Verified, asked: GuestRequest) -> Issued:
        """A token that reaches one project.

        Raises:
            NotFound: the issuer reaches no such project.
            PermissionDenied: the issuer may not give that role.
        """
        await owned_project(self._cluster, issuer.identity, asked.collection_id, asked.project_id)
        authorize_issue(issuer.identity, asked.role)
        direct = asked.kind is TokenKind.DIRECT
        return self._tokens.issue_guest(
            guest_identity(issuer.identity, asked),
            asked.kind,
            asked.duration_ms if direct else asked.redeemable_ms,
            session_ms=None if direct else asked.duration_ms,
            first_issued=issuer.first_issued if direct or issuer.identity.guest else None,
            not_after=issuer.expires if direct else None,
        )

    async def refresh(self, verified: Verified) -> str:
        """The session token that follows, or that a guest's token is redeemed for.

        Raises:
            Unauthenticated: it was redeemed or withdrawn, or its project is gone.
            ApiError: the API server, which knows what was redeemed, did not answer.
        """
        if guest := verified.identity.guest:
            try:
                await owned_project(self._cluster, verified.identity, guest.collection_id, guest.project_id)
            except NotFound:
                raise Unauthenticated("the access token's project does not exist any more") from None
        if verified.kind is TokenKind.EXCHANGE and await self._revoked.check(verified.id):
            raise Unauthenticated(REDEEMED)
        token = self._tokens.renew(verified)
        if verified.kind is TokenKind.DIRECT and not await self._revoked.revoke(
            verified.id, verified.expires
        ):
            raise Unauthenticated(REDEEMED)
        return token

    def jwks(self) -> dict[str, Any]:
        return {"keys": self._keys.jwks()}


def backend_identity(service: Service, asked: BackendRequest) -> Identity:
    """
    Raises:
        PermissionDenied: no backend may have that role.
    """
    if asked.role is Role.PLATFORM:
        raise PermissionDenied("ROLE_PLATFORM is internal to the service")
    scopes = tuple(s for s in service.scopes if asked.role is Role.HOST or s != SCOPE_CREATE)
    return Identity(service.id, asked.service_user_id, asked.display_name, asked.role, scopes)


def guest_identity(issuer: Identity, asked: GuestRequest) -> Identity:
    """A guest of the issuer's service, without scopes: they speak of collections."""
    control = GuestControl(asked.collection_id, asked.project_id)
    user_id = asked.service_user_id or f"guest-{new_id()}"
    return Identity(issuer.service_id, user_id, asked.display_name, asked.role, (), control)
