"""The operations on access tokens and guest codes."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken, ByAnybody, ByApiKey
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, IMPERSONATORS, VIEWERS
from onair_api.errors import Code
from onair_api.live.authentication.service import Authentication
from onair_api.operation import EMPTY, Operation, ResponseKind

PATH = "/live/v2/authentication"

AUTHENTICATION = (
    Operation(
        name="CreateAccessToken",
        method="POST",
        path=PATH + "/token",
        access=ByApiKey(),
        service=Authentication,
        serve=Authentication.create,
        tag="authentication",
        summary="Issue an access token for a session host",
        description="For a partner's backend, which identifies itself with its API key.",
        request="CreateAccessTokenRequest",
        example={"serviceUserId": "anna", "displayName": "Anna"},
        response="CreateAccessTokenResponse",
        more_errors=(Code.PERMISSION_DENIED,),
    ),
    Operation(
        name="RefreshAccessToken",
        method="PUT",
        path=PATH + "/token",
        access=ByAccessToken(VIEWERS, redeeming=True),
        service=Authentication,
        serve=Authentication.refresh,
        tag="authentication",
        summary="Renew the access token before it ends",
        description="The new token is in the response header `Authorization: Bearer …`; grants stay the "
        "same. A guest's token of kind `direct` is ended by it, one of kind `exchange` is "
        "good for another.",
        request=EMPTY,
        example={},
        response="Empty",
        response_kind=ResponseKind.TOKEN,
    ),
    Operation(
        name="CreateGuestAccessToken",
        method="POST",
        path=PATH + "/token/guest",
        access=ByAccessToken(CONTRIBUTORS - IMPERSONATORS),
        service=Authentication,
        serve=Authentication.create_guest,
        tag="authentication",
        summary="Issue an access token for a guest of one project",
        description="Of a role up to the caller's own; with `url`, also a short url that leads there "
        "with the token.",
        request="CreateGuestAccessTokenRequest",
        example={
            "collectionId": "show-of-anna",
            "projectId": "sunday",
            "role": "ROLE_GUEST",
            "direct": {"displayName": "Ben"},
        },
        response="CreateGuestAccessTokenResponse",
        more_errors=(Code.NOT_FOUND,),
    ),
    Operation(
        name="CreateGuestCode",
        method="POST",
        path=PATH + "/token/guest-code",
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=Authentication,
        serve=Authentication.create_guest_code,
        tag="authentication",
        summary="Make a short url for guests of one project",
        description="It takes what CreateGuestAccessToken takes; without a kind, the token is of kind "
        "`exchange`.",
        request="CreateGuestCodeRequest",
        example={
            "collectionId": "show-of-anna",
            "projectId": "sunday",
            "url": "https://studio.example.org/join",
        },
        response="GuestCodeResponse",
        more_errors=(Code.NOT_FOUND,),
    ),
    Operation(
        name="GetGuestCode",
        method="GET",
        path=PATH + "/token/guest-code/{code}",
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=Authentication,
        serve=Authentication.get_guest_code,
        tag="authentication",
        summary="Read a guest code",
        description="NOT_FOUND once it has ended.",
        response="GuestCodeResponse",
    ),
    Operation(
        name="DeleteGuestCode",
        method="DELETE",
        path=PATH + "/token/guest-code/{code}",
        access=ByAccessToken(COHOSTS - IMPERSONATORS),
        service=Authentication,
        serve=Authentication.delete_guest_code,
        tag="authentication",
        summary="End a guest code and its token",
        description="Sessions that its token was redeemed for go on.",
        response="Empty",
    ),
    Operation(
        name="GetTestToken",
        method="GET",
        path=PATH + "/token/test",
        access=ByApiKey(),
        service=Authentication,
        serve=Authentication.create_test,
        tag="authentication",
        summary="Issue a token without grants",
        description="For trying out verification: it is signed like any other and permits nothing.",
        response="CreateAccessTokenResponse",
    ),
    Operation(
        name="GetJsonWebKeySet",
        method="GET",
        path=PATH + "/jwks",
        access=ByAnybody(),
        service=Authentication,
        serve=Authentication.list_keys,
        tag="authentication",
        summary="Public keys that access tokens are verified with",
        description="A key is published as long as it verifies; the newest signs.",
        response="JsonWebKeySet",
        only_errors=(),
    ),
    Operation(
        name="GuestCodeRedirect",
        method="GET",
        path="/r/{serviceId}/{code}",
        alternate_path="/live/v2/r/{serviceId}/{code}",
        access=ByAnybody(),
        service=Authentication,
        serve=Authentication.redirect_guest,
        tag="authentication",
        summary="Follow a short url",
        description="The response holds a token: nobody keeps it, and the page behind it does not pass "
        "it on.",
        response="Empty",
        response_kind=ResponseKind.REDIRECT,
        only_errors=(Code.NOT_FOUND,),
    ),
)
