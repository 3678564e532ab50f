"""Token operations under /live/v2/authentication. Each reads its own credential and ignores the other."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.roles import Operation, authorize
from onair_api.errors import Code
from onair_api.services import services_of
from onair_api.web.answers import Json
from onair_api.web.body import read_object
from onair_api.web.documented import API_KEY, operation

router = APIRouter(prefix="/live/v2/authentication", tags=["authentication"])

_OWN_ERRORS = (Code.INVALID_ARGUMENT, Code.UNAUTHENTICATED, Code.UNAVAILABLE)


@router.post(
    "/token",
    **operation(
        "CreateAccessToken",
        "Issue an access token for a session host",
        request="CreateAccessTokenRequest",
        response="CreateAccessTokenResponse",
        example={"serviceUserId": "anna", "displayName": "Anna"},
        security=API_KEY,
        errors=(*_OWN_ERRORS, Code.PERMISSION_DENIED),
    ),
)
async def create_access_token(request: Request) -> Response:
    """For a partner's backend, which identifies itself with its API key."""
    services = services_of(request)
    api_key = request.headers.get("x-api-key")
    services.api_keys.service_of(api_key)
    body = await read_object(request, services.settings.limits)
    return Json(services.authentication.create(api_key, body))


@router.put(
    "/token",
    **operation(
        "RefreshAccessToken",
        "Renew the access token before it ends",
        request="Empty",
        response="Empty",
        example={},
        errors=_OWN_ERRORS,
    ),
)
async def refresh_access_token(request: Request) -> Response:
    """The new token is in the response header `Authorization: Bearer …`; grants stay the same."""
    services = services_of(request)
    verified = await services.tokens.verify(request.headers.get("authorization"))
    authorize(verified.identity, Operation.REFRESH_ACCESS_TOKEN)
    token = services.authentication.renew(verified)
    return Json({}, headers={"Authorization": f"Bearer {token}"})


@router.get(
    "/token/test",
    **operation(
        "GetTestToken",
        "Issue a token without grants",
        response="CreateAccessTokenResponse",
        security=API_KEY,
        errors=(Code.UNAUTHENTICATED, Code.UNAVAILABLE),
    ),
)
async def get_test_token(request: Request) -> Response:
    """For trying out verification: it is signed like any other and permits nothing."""
    return Json(services_of(request).authentication.test_token(request.headers.get("x-api-key")))


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
