"""Which protocols the RPC door speaks, by the content types of requests."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import Scope

from onair_api.errors import Code
from onair_api.http.responses import JsonResponse

WEB = "application/grpc-web"
TEXT = f"{WEB}-text+proto"
TEXTS = (f"{WEB}-text", TEXT)
CONNECT = ("application/proto", "application/json")
CONNECT_STREAMS = ("application/connect+proto", "application/connect+json")
NATIVE = ("application/grpc", "application/grpc+proto", "application/grpc+json")
"""Served where the server can send trailers: by HTTP/2."""
SERVED = (WEB, f"{WEB}+proto", f"{WEB}+json", *TEXTS, *CONNECT, *CONNECT_STREAMS)


def content_type_of(scope: Scope) -> str:
    """The content type of a request, without parameters, in lower case; empty if there is none."""
    value = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return str(value.decode("latin-1").partition(";")[0].strip().lower())


def refusal_of(scope: Scope) -> Response | None:
    """The response to a request in a protocol that is not served."""
    content_type = content_type_of(scope)
    if content_type in SERVED:
        return None
    if content_type in NATIVE and "http.response.trailers" in scope.get("extensions", {}):
        return None
    return refusal(SERVED, "; gRPC itself has a port of its own")


def refusal(served: Sequence[str], more: str = "") -> Response:
    """The response where only these content types are served."""
    types = ", ".join(served)
    body = {
        "code": int(Code.UNIMPLEMENTED),
        "message": f"the content type must be one of {types}{more}",
        "details": [],
    }
    return JsonResponse(body, 415, {"Accept-Post": types})
