"""The operations on access tokens and guest codes."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken, ByAnybody, ByApiKey
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, IMPERSONATORS, VIEWERS
from onair_api.errors import Code
from onair_api.live.authentication.service import Authentication
from onair_api.operation import (
    EMPTY,
    Docs,
    Errors,
    Filter,
    Http,
    Messages,
    Operation,
    ResponseKind,
    Rpc,
    ServiceMethod,
)
from onair_api.wire.schema import STRING, enumeration
from onair_crds.contract.facade_paths import TOKEN_PATH
from onair_crds.resources.enums import Role

PATH = "/live/v2/authentication"
SERVICE = "live.v21.AuthenticationService"
BACKEND_AUTHENTICATION_SERVICE = "live.v21.BackendAuthenticationService"
PUBLIC_AUTHENTICATION_SERVICE = "live.v21.PublicAuthenticationService"

AUTHENTICATION = (
    Operation(
        name="CreateAccessToken",
        http=Http("POST", TOKEN_PATH),
        rpc=Rpc(BACKEND_AUTHENTICATION_SERVICE),
        access=ByApiKey(),
        service=ServiceMethod(Authentication, Authentication.create),
        messages=Messages(
            "CreateAccessTokenRequest",
            "CreateAccessTokenResponse",
            example={"serviceUserId": "anna", "displayName": "Anna"},
        ),
        docs=Docs(
            "authentication",
            "Issue an access token for a session host",
            "For a partner's backend, which identifies itself with its API key.",
        ),
        errors=Errors(more=(Code.PERMISSION_DENIED,)),
    ),
    Operation(
        name="RefreshAccessToken",
        http=Http("PUT", TOKEN_PATH, response=ResponseKind.TOKEN),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(VIEWERS, redeeming=True),
        service=ServiceMethod(Authentication, Authentication.refresh),
        messages=Messages(EMPTY, "Empty", example={}),
        docs=Docs(
            "authentication",
            "Renew the access token before it expires",
            "The new token is in the response header `Authorization: Bearer …`; its grants are the same. "
            "This revokes a guest's token of kind `direct`; one of kind `exchange` stays valid.",
        ),
    ),
    Operation(
        name="RevokeAccessToken",
        http=Http("DELETE", TOKEN_PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(VIEWERS, redeeming=True),
        service=ServiceMethod(Authentication, Authentication.revoke),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "authentication",
            "End the access token",
            "Also ends the tokens of its chain of refreshes, and those of guests who were invited with them.",
        ),
    ),
    Operation(
        name="RevokeIssuedAccessToken",
        http=Http("POST", PATH + "/token/revoke"),
        rpc=Rpc(BACKEND_AUTHENTICATION_SERVICE),
        access=ByApiKey(),
        service=ServiceMethod(Authentication, Authentication.revoke_issued),
        messages=Messages("RevokeIssuedAccessTokenRequest", "Empty", example={"accessToken": "eyJ…"}),
        docs=Docs(
            "authentication",
            "End an access token of the service",
            "For a partner's backend. Does the same as RevokeAccessToken, even if the token has expired.",
        ),
    ),
    Operation(
        name="CreateGuestAccessToken",
        http=Http("POST", PATH + "/token/guest"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(CONTRIBUTORS - IMPERSONATORS),
        service=ServiceMethod(Authentication, Authentication.create_guest),
        messages=Messages(
            "CreateGuestAccessTokenRequest",
            "CreateGuestAccessTokenResponse",
            example={
                "collectionId": "show-of-anna",
                "projectId": "sunday",
                "role": "ROLE_GUEST",
                "direct": {"displayName": "Ben"},
            },
        ),
        docs=Docs(
            "authentication",
            "Issue an access token for a guest of one project",
            "With a role up to the caller's own. With `url`, the response also has a short url that "
            "redirects there with the token.",
        ),
        errors=Errors(more=(Code.NOT_FOUND,)),
    ),
    Operation(
        name="CreateGuestCode",
        http=Http("POST", PATH + "/token/guest-code"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=ServiceMethod(Authentication, Authentication.create_guest_code),
        messages=Messages(
            "CreateGuestCodeRequest",
            "GuestCodeResponse",
            example={
                "collectionId": "show-of-anna",
                "projectId": "sunday",
                "url": "https://studio.example.org/join",
            },
        ),
        docs=Docs(
            "authentication",
            "Make a short url for guests of one project",
            "Takes the fields of CreateGuestAccessToken; without a kind, the token is of kind `exchange`.",
        ),
        errors=Errors(more=(Code.NOT_FOUND,)),
    ),
    Operation(
        name="GetGuestCodes",
        http=Http("GET", PATH + "/token/guest-code"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=ServiceMethod(Authentication, Authentication.list_guest_codes),
        messages=Messages(
            None,
            "GetGuestCodesResponse",
            query=(
                Filter("collectionId", STRING),
                Filter("projectId", STRING),
                Filter("role", enumeration(Role)),
            ),
        ),
        docs=Docs(
            "authentication", "List guest codes", "Of the projects that the caller may see, oldest first."
        ),
    ),
    Operation(
        name="GetGuestCode",
        http=Http("GET", PATH + "/token/guest-code/{code}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=ServiceMethod(Authentication, Authentication.get_guest_code),
        messages=Messages(None, "GuestCodeResponse"),
        docs=Docs("authentication", "Read a guest code", "NOT_FOUND once it has expired."),
    ),
    Operation(
        name="DeleteGuestCode",
        http=Http("DELETE", PATH + "/token/guest-code/{code}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=ServiceMethod(Authentication, Authentication.delete_guest_code),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "authentication",
            "Delete a guest code and revoke its token",
            "Sessions that its token was redeemed for remain valid.",
        ),
    ),
    Operation(
        name="GetTestToken",
        http=Http("GET", PATH + "/token/test"),
        rpc=Rpc(BACKEND_AUTHENTICATION_SERVICE),
        access=ByApiKey(),
        service=ServiceMethod(Authentication, Authentication.create_test),
        messages=Messages(None, "CreateAccessTokenResponse"),
        docs=Docs(
            "authentication",
            "Issue a token without grants",
            "For trying out verification: it is signed like any other and permits nothing.",
        ),
    ),
    Operation(
        name="GetJsonWebKeySet",
        http=Http("GET", PATH + "/jwks"),
        rpc=Rpc(PUBLIC_AUTHENTICATION_SERVICE),
        access=ByAnybody(),
        service=ServiceMethod(Authentication, Authentication.list_keys),
        messages=Messages(None, "JsonWebKeySet"),
        docs=Docs(
            "authentication",
            "Public keys that access tokens are verified with",
            "A key is published as long as it verifies; the newest signs.",
        ),
        errors=Errors(only=()),
    ),
    Operation(
        name="GuestCodeRedirect",
        http=Http(
            "GET",
            "/r/{serviceId}/{code}",
            alternate_path="/live/v2/r/{serviceId}/{code}",
            response=ResponseKind.REDIRECT,
        ),
        rpc=Rpc(PUBLIC_AUTHENTICATION_SERVICE),
        access=ByAnybody(),
        service=ServiceMethod(Authentication, Authentication.redirect_guest),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "authentication",
            "Follow a short url",
            "The response holds a token: no cache keeps it, and the page behind it does not pass it on.",
        ),
        errors=Errors(only=(Code.NOT_FOUND,)),
    ),
)
