"""Access tokens for backends and guests, their renewal, guest codes, test tokens, public keys."""

from __future__ import annotations

from onair_api.access.ownership import owned_project
from onair_api.access.visible_layouts import visible_projects
from onair_api.auth.api_keys import Backend
from onair_api.auth.callers import Caller
from onair_api.auth.guest_codes import UNKNOWN, GuestCodes, StoredCode
from onair_api.auth.guest_links import GuestLinks
from onair_api.auth.identity import SCOPE_CREATE, GuestControl, Identity
from onair_api.auth.revocation import RevokedTokens
from onair_api.auth.roles import authorize_issue
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.token_runs import is_over
from onair_api.auth.tokens import REDEEMED, Issued, Tokens
from onair_api.auth.verified_token import TokenKind, Verified
from onair_api.cache.cluster import Cluster
from onair_api.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated, Violation
from onair_api.live.authentication.requests import (
    BackendRequest,
    GuestRequest,
    backend_request,
    guest_request,
    revoked_token,
)
from onair_api.operation import Ids
from onair_api.settings import TokenSettings
from onair_api.wire.decode import enum_field
from onair_api.writes.identifiers import new_id
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject


class Authentication:
    def __init__(
        self,
        cluster: Cluster,
        tokens: Tokens,
        keys: SigningKeys,
        revoked: RevokedTokens,
        guest_codes: GuestCodes,
        settings: TokenSettings,
        links: GuestLinks,
    ) -> None:
        self._links = links
        self._cluster = cluster
        self._tokens = tokens
        self._keys = keys
        self._revoked = revoked
        self._guest_codes = guest_codes
        self._settings = settings

    async def create(self, caller: Backend, ids: Ids, message: JsonObject) -> JsonObject:
        """A token for a session host, asked for by a backend."""
        asked = backend_request(message, self._settings)
        return {"accessToken": self._tokens.issue(backend_identity(caller, asked), asked.duration_ms)}

    async def create_test(self, caller: Backend, ids: Ids, message: JsonObject) -> JsonObject:
        """A token that verifies and grants nothing."""
        identity = Identity(caller.service_id, "", "", None, (), api_key=caller.key)
        return {"accessToken": self._tokens.issue(identity, self._settings.default_duration_ms)}

    async def refresh(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The session token that follows, or that a guest's token is redeemed for.

        Raises:
            Unauthenticated: it was redeemed or revoked, or its project is gone.
            QuotaExceeded: too many direct tokens of its service were redeemed.
            ApiError: the API server, which knows what was redeemed, did not respond.
        """
        old = caller.token
        if guest := old.identity.guest:
            try:
                project = await owned_project(
                    self._cluster, old.identity, guest.collection_id, guest.project_id
                )
            except NotFound:
                raise Unauthenticated("the access token's project does not exist") from None
            if old.run and is_over(project, old.run):
                raise Unauthenticated("the access token's broadcast has ended")
        if old.kind is TokenKind.EXCHANGE and await self._revoked.check(old.id):
            raise Unauthenticated(REDEEMED)
        token = self._tokens.renew(old)
        if old.kind is TokenKind.DIRECT:
            service_id = old.identity.service_id
            if not await self._revoked.redeem(old.id, old.expires, service_id):
                raise Unauthenticated(REDEEMED)
        return {"accessToken": token}

    async def revoke(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Ends the caller's token, its successors, and what was issued with them."""
        await self._revoked.end(caller.identity)
        return {}

    async def revoke_issued(self, caller: Backend, ids: Ids, message: JsonObject) -> JsonObject:
        """Ends a token of the backend's service likewise.

        Raises:
            InvalidArgument: it is none of this service.
            QuotaExceeded: too many are revoked.
        """
        token = await self._tokens.read(revoked_token(message))
        if token is None or token.identity.service_id != caller.service_id:
            raise InvalidArgument(Violation("accessToken", "must be a token of this service"))
        await self._revoked.end(token.identity, by_backend=True)
        return {}

    async def create_guest(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """A token that reaches one project; with `url`, also a short url that leads there with the token."""
        asked = guest_request(message, self._settings, self._links)
        project = await self._project(caller, asked)
        issued = self._issue(caller.token, asked, project)
        if not asked.url:
            return {"accessToken": issued.token}
        code = await self._guest_codes.create(caller.identity.service_id, project, asked.url, issued)
        return {"accessToken": issued.token, "url": code["url"]}

    async def create_guest_code(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        asked = guest_request(message, self._settings, self._links, for_code=True)
        project = await self._project(caller, asked)
        issued = self._issue(caller.token, asked, project)
        code = await self._guest_codes.create(caller.identity.service_id, project, asked.url, issued)
        return {"guestCode": code}

    async def list_guest_codes(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The codes of the projects that the caller may see; a filter that names another's finds none."""
        role, collection_id = enum_field(message, "role", Role), message.get("collectionId")
        projects = await visible_projects(self._cluster, caller.identity, message.get("projectId"))
        found = [
            code
            for project in projects
            if collection_id in (None, "", project.spec.get("collectionId"))
            for code in await self._guest_codes.of_project(project)
            if role is None or code["role"] == role.wire
        ]
        return {"guestCodes": found}

    async def get_guest_code(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        return {"guestCode": self._guest_codes.record(await self._code(caller, ids))}

    async def delete_guest_code(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Ends the code and its token. Sessions that it was redeemed for go on."""
        await self._guest_codes.delete(await self._code(caller, ids))
        return {}

    async def redirect_guest(self, caller: None, ids: Ids, message: JsonObject) -> JsonObject:
        """Where a guest code leads to."""
        return {"location": self._guest_codes.target(ids["serviceId"], ids["code"])}

    async def list_keys(self, caller: None, ids: Ids, message: JsonObject) -> JsonObject:
        """The public keys that tokens are verified with."""
        return {"keys": self._keys.jwks()}

    async def _project(self, caller: Caller, asked: GuestRequest) -> Entry:
        """The project that a guest is asked for.

        Raises:
            NotFound: the caller reaches no such project.
            PermissionDenied: the caller may not give that role.
        """
        project = await owned_project(self._cluster, caller.identity, asked.collection_id, asked.project_id)
        authorize_issue(caller.identity, asked.role)
        return project

    def _issue(self, issuer: Verified, asked: GuestRequest, project: Entry) -> Issued:
        direct = asked.kind is TokenKind.DIRECT
        return self._tokens.issue_guest(
            guest_identity(issuer.identity, asked, project.uid),
            asked.kind,
            asked.duration_ms if direct else asked.redeemable_ms,
            session_ms=None if direct else asked.duration_ms,
            first_issued=issuer.first_issued if direct or issuer.identity.guest else None,
            not_after=issuer.expires,
        )

    async def _code(self, caller: Caller, ids: Ids) -> StoredCode:
        """
        Raises:
            NotFound: there is no such code of a project that the caller reaches, or it has expired.
        """
        stored = await self._guest_codes.find(caller.identity.service_id, ids["code"])
        try:
            code = stored.code
            await owned_project(self._cluster, caller.identity, code.collection_id, code.project_id)
        except NotFound:
            raise NotFound(UNKNOWN) from None
        return stored


def backend_identity(backend: Backend, asked: BackendRequest) -> Identity:
    """Returns the identity of a token that a backend asks for.

    Raises:
        PermissionDenied: no backend may have that role.
    """
    if asked.role is Role.PLATFORM:
        raise PermissionDenied("ROLE_PLATFORM is internal to the service")
    scopes = tuple(s for s in backend.scopes if asked.role is Role.HOST or s != SCOPE_CREATE)
    return Identity(
        backend.service_id,
        asked.service_user_id,
        asked.display_name,
        asked.role,
        scopes,
        api_key=backend.key,
    )


def guest_identity(issuer: Identity, asked: GuestRequest, project_uid: str) -> Identity:
    """A guest of the issuer's service, without scopes: they are for collections."""
    control = GuestControl(asked.collection_id, asked.project_id, project_uid)
    user_id = asked.service_user_id or f"guest-{new_id()}"
    return Identity(
        issuer.service_id,
        user_id,
        asked.display_name,
        asked.role,
        (),
        control,
        issuer.api_key,
        issuer.lineage,
    )
