"""GuestCodeRedirect: a short url leads to its page with a guest's token."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.services import services_of

router = APIRouter(tags=["authentication"])

_PATH_PARAMETERS = [
    {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name in ("serviceId", "code")
]
_RESPONSES = {
    302: {"description": "To the long url, with the guest's token as the query parameter `at`."},
    404: {"$ref": "#/components/responses/NotFound"},
}


@router.get("/live/v2/r/{serviceId}/{code}", include_in_schema=False)
@router.get(
    "/r/{serviceId}/{code}",
    summary="Follow a short url",
    operation_id="GuestCodeRedirect",
    openapi_extra={"parameters": _PATH_PARAMETERS, "security": []},
    status_code=302,
    responses={status: dict(response) for status, response in _RESPONSES.items()},
    response_model=None,
    response_class=Response,
)
async def redirect(request: Request) -> Response:
    """The answer holds a token: nobody keeps it, and the page behind does not pass it on."""
    ids = request.path_params
    target = services_of(request).guest_codes.target(ids["serviceId"], ids["code"])
    headers = {"Location": target, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Response(status_code=302, headers=headers)
