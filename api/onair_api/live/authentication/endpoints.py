"""Token operations under /live/v2/authentication. Each reads its own credential and ignores the other."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.api_keys import Service
from onair_api.auth.caller import verified_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code
from onair_api.http.body import read_object
from onair_api.http.documented import API_KEY, operation
from onair_api.http.responses import Json
from onair_api.live.authentication.requests import guest_request
from onair_api.services import services_of

router = APIRouter(prefix="/live/v2/authentication", tags=["authentication"])

_OF_API_KEYS = (Code.UNAUTHENTICATED, Code.RESOURCE_EXHAUSTED, Code.UNAVAILABLE)


def _service(request: Request) -> Service:
    """The backend that an API key names, counted as one request of it."""
    services = services_of(request)
    service = services.api_keys.service_of(request.headers.get("x-api-key"))
    services.rate_limits.count(None, service.id)
    return service


@router.post(
    "/token",
    **operation(
        "CreateAccessToken",
        "Issue an access token for a session host",
        request="CreateAccessTokenRequest",
        response="CreateAccessTokenResponse",
        example={"serviceUserId": "anna", "displayName": "Anna"},
        security=API_KEY,
        errors=(Code.INVALID_ARGUMENT, Code.PERMISSION_DENIED, *_OF_API_KEYS),
    ),
)
async def create_access_token(request: Request) -> Response:
    """For a partner's backend, which identifies itself with its API key."""
    service = _service(request)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(services.authentication.create(service, body))


@router.put(
    "/token",
    **operation(
        "RefreshAccessToken",
        "Renew the access token before it ends",
        request="Empty",
        response="Empty",
        example={},
        errors=(
            Code.UNAUTHENTICATED,
            Code.PERMISSION_DENIED,
            Code.RESOURCE_EXHAUSTED,
            Code.UNAVAILABLE,
        ),
    ),
)
async def refresh_access_token(request: Request) -> Response:
    """The new token is in the response header `Authorization: Bearer …`; grants stay the same.

    A guest's token of kind `direct` is ended by it, one of kind `exchange` is good for another.
    """
    verified = await verified_of(request, Operation.REFRESH_ACCESS_TOKEN, redeeming=True)
    token = await services_of(request).authentication.refresh(verified)
    return Json({}, headers={"Authorization": f"Bearer {token}"})


@router.post(
    "/token/guest",
    **operation(
        Operation.CREATE_GUEST_ACCESS_TOKEN,
        "Issue an access token for a guest of one project",
        request="CreateGuestAccessTokenRequest",
        response="CreateGuestAccessTokenResponse",
        example={
            "collectionId": "show-of-anna",
            "projectId": "sunday",
            "role": "ROLE_GUEST",
            "direct": {"displayName": "Ben"},
        },
        also=(Code.NOT_FOUND,),
    ),
)
async def create_guest_access_token(request: Request) -> Response:
    """Of a role up to the caller's own; with `url`, also a short url that leads there with the token."""
    verified = await verified_of(request, Operation.CREATE_GUEST_ACCESS_TOKEN)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    asked = guest_request(body, services.settings.tokens)
    issued = await services.authentication.create_guest(verified, asked)
    answer = {"accessToken": issued.token}
    if asked.url:
        record = await services.guest_codes.create(verified.identity, asked, issued)
        answer["url"] = record["url"]
    return Json(answer)


@router.post(
    "/token/guest-code",
    **operation(
        Operation.CREATE_GUEST_CODE,
        "Make a short url for guests of one project",
        request="CreateGuestCodeRequest",
        response="GuestCodeResponse",
        example={
            "collectionId": "show-of-anna",
            "projectId": "sunday",
            "url": "https://studio.example.org/join",
        },
        also=(Code.NOT_FOUND,),
    ),
)
async def create_guest_code(request: Request) -> Response:
    """It takes what CreateGuestAccessToken takes; without a kind, the token is of kind `exchange`."""
    verified = await verified_of(request, Operation.CREATE_GUEST_CODE)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    asked = guest_request(body, services.settings.tokens, for_code=True)
    issued = await services.authentication.create_guest(verified, asked)
    return Json({"guestCode": await services.guest_codes.create(verified.identity, asked, issued)})


@router.get(
    "/token/guest-code/{code}",
    **operation(Operation.GET_GUEST_CODE, "Read a guest code", path=("code",), response="GuestCodeResponse"),
)
async def get_guest_code(request: Request) -> Response:
    """NOT_FOUND once it has ended."""
    verified = await verified_of(request, Operation.GET_GUEST_CODE)
    codes = services_of(request).guest_codes
    return Json({"guestCode": await codes.get(verified.identity, request.path_params["code"])})


@router.delete(
    "/token/guest-code/{code}",
    **operation(
        Operation.DELETE_GUEST_CODE, "End a guest code and its token", path=("code",), response="Empty"
    ),
)
async def delete_guest_code(request: Request) -> Response:
    """Sessions that its token was redeemed for go on."""
    verified = await verified_of(request, Operation.DELETE_GUEST_CODE)
    await services_of(request).guest_codes.delete(verified.identity, request.path_params["code"])
    return Json({})


@router.get(
    "/token/test",
    **operation(
        "GetTestToken",
        "Issue a token without grants",
        response="CreateAccessTokenResponse",
        security=API_KEY,
        errors=_OF_API_KEYS,
    ),
)
async def get_test_token(request: Request) -> Response:
    """For trying out verification: it is signed like any other and permits nothing."""
    service = _service(request)
    return Json(services_of(request).authentication.test_token(service))


@router.get(
    "/jwks",
    **operation(
        "GetJsonWebKeySet",
        "Public keys that access tokens are verified with",
        response="JsonWebKeySet",
        security=[],
        errors=(),
    ),
)
async def get_json_web_key_set(request: Request) -> Response:
    """A key is published as long as it verifies; the newest signs."""
    return Json(services_of(request).authentication.jwks())
