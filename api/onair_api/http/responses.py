"""Answers: JSON bytes, and errors as their google.rpc bodies."""

from __future__ import annotations

import json
from typing import Any

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from onair_api.errors import MethodNotAllowed, NotFound, RpcError
from onair_api.http.allowed_methods import allowed_methods
from onair_api.kubernetes_errors import rpc_error
from onair_crds.kube.errors import ApiError


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError:  # metadata may hold integers above 64 bits, which orjson has not
            return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def error_response(error: RpcError, headers: dict[str, str] | None = None) -> Json:
    return Json(error.body(), error.code.http_status, {**error.headers, **(headers or {})})


def install(app: FastAPI) -> None:
    """Turns every expected exception into its answer; `boundary` answers the others."""

    async def on_rpc_error(request: Request, error: Exception) -> Response:
        return (
            error_response(error)
            if isinstance(error, RpcError)
            else error_response(RpcError("internal error"))
        )

    async def on_api_error(request: Request, error: Exception) -> Response:
        answer = rpc_error(error) if isinstance(error, ApiError) else RpcError("internal error")
        request.state.cause = error
        return error_response(answer)

    async def on_http_exception(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 405:
            allowed = ", ".join(allowed_methods(app, request.scope))
            return error_response(MethodNotAllowed("the path does not offer this method"), {"Allow": allowed})
        return error_response(NotFound("there is nothing at this path"))

    app.add_exception_handler(RpcError, on_rpc_error)
    app.add_exception_handler(ApiError, on_api_error)
    app.add_exception_handler(HTTPException, on_http_exception)
