"""Responses: messages as JSON, the kinds that HTTP shows otherwise, errors as their google.rpc bodies."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from onair_api.errors import MethodNotAllowed, NotFound, RpcError
from onair_api.http.allowed_methods import allowed_methods
from onair_api.kubernetes_errors import rpc_error
from onair_api.operation import ResponseKind
from onair_crds.kube.errors import ApiError

NO_STORE = {"Cache-Control": "no-store"}
NEXT_PAGE = "X-Next-Page-Token"
"""Header of a bare array that has another page."""


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        if isinstance(content, bytes):
            return content
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:  # metadata may hold integers above 64 bits, which orjson cannot encode
            return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def responder(kind: ResponseKind) -> Callable[[Any, Scope], Response]:
    """Makes responses of messages of one kind."""
    return _RESPONDERS[kind]


def _message(message: Any, scope: Scope) -> Response:
    return JsonResponse(message)


def _image(message: Any, scope: Scope) -> Response:
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    if prefers_json(accept.decode("latin-1")):
        record = {**message, "image": base64.b64encode(message["image"]).decode()}
        return JsonResponse(record, headers=NO_STORE)
    return Response(message["image"], media_type="image/jpeg", headers=NO_STORE)


def prefers_json(accept: str) -> bool:
    """Whether a client names JSON and no image."""
    wanted = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    return "application/json" in wanted and not any(each.startswith("image/") for each in wanted)


def _token(message: Any, scope: Scope) -> Response:
    return JsonResponse({}, headers={"Authorization": f"Bearer {message['accessToken']}"})


def _list(message: Any, scope: Scope) -> Response:
    token = message.get("nextPageToken")
    return JsonResponse(message["items"], headers={NEXT_PAGE: token} if token else None)


def _redirect(message: Any, scope: Scope) -> Response:
    """The address holds a token: no cache keeps it, and the page behind it does not pass it on."""
    headers = {"Location": message["location"], **NO_STORE, "Referrer-Policy": "no-referrer"}
    return Response(status_code=302, headers=headers)


_RESPONDERS: dict[ResponseKind, Callable[[Any, Scope], Response]] = {
    ResponseKind.MESSAGE: _message,
    ResponseKind.IMAGE: _image,
    ResponseKind.TOKEN: _token,
    ResponseKind.LIST: _list,
    ResponseKind.REDIRECT: _redirect,
}


def error_response(error: RpcError, headers: dict[str, str] | None = None) -> JsonResponse:
    """The response that says what went wrong, with the headers of the error."""
    return JsonResponse(error.body(), error.code.http_status, {**error.headers, **(headers or {})})


def install(app: FastAPI) -> None:
    """Turns every expected exception into its response; the request log responds to the others."""

    async def on_rpc_error(request: Request, error: Exception) -> Response:
        return error_response(error if isinstance(error, RpcError) else RpcError("internal error"))

    async def on_api_error(request: Request, error: Exception) -> Response:
        request.state.cause = error
        return error_response(rpc_error(error) if isinstance(error, ApiError) else RpcError("internal error"))

    async def on_http_exception(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 405:
            allowed = ", ".join(allowed_methods(app, request.scope))
            return error_response(
                MethodNotAllowed("this path does not support the method"), {"Allow": allowed}
            )
        return error_response(NotFound("there is nothing at this path"))

    app.add_exception_handler(RpcError, on_rpc_error)
    app.add_exception_handler(ApiError, on_api_error)
    app.add_exception_handler(HTTPException, on_http_exception)
