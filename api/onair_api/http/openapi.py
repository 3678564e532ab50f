"""The served OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from onair_api.errors import BAD_REQUEST, Code
from onair_api.event.schemas import event_schemas
from onair_api.layout.schemas import layout_schemas
from onair_api.live.schemas import live_schemas
from onair_api.settings import Settings

VERSION = "2.1"

DESCRIPTION = """Live video production. A collection owns projects; a project renders a composition,
encodes it once and delivers it to every enabled destination.

A backend exchanges its API key for an access token; everything else takes that token."""

TAGS = [
    {"name": "authentication", "description": "Access tokens and the keys that verify them."},
    {"name": "collections", "description": "What one user of one service owns."},
    {"name": "projects", "description": "One show each: what is rendered and how it is encoded."},
    {"name": "destinations", "description": "Where a project's programme is delivered to."},
    {"name": "broadcasts", "description": "On air and off."},
    {"name": "sources", "description": "Live inputs of a collection, and what projects make of them."},
    {"name": "webrtc", "description": "Hosted rooms; this version has no server for them."},
    {"name": "layouts", "description": "Canvases of the scene compositor, and how one replaces another."},
    {"name": "layers", "description": "What is drawn on a layout, and in which order."},
    {"name": "events", "description": "Custom events and changes of resources, published and streamed."},
]

_ERRORS: dict[str, tuple[Code, str, str]] = {
    "InvalidArgument": (
        Code.INVALID_ARGUMENT,
        "The request is wrong (code 3, names every field), or the state forbids it (code 9).",
        "rendering.video.width: must be even",
    ),
    "Unauthenticated": (
        Code.UNAUTHENTICATED,
        "No credential, or one that is not valid (any more).",
        "the access token is not valid: it has expired",
    ),
    "PermissionDenied": (
        Code.PERMISSION_DENIED,
        "The caller's role does not include this.",
        "ROLE_VIEWER may not call UpdateProject",
    ),
    "NotFound": (
        Code.NOT_FOUND,
        "Does not exist, or belongs to somebody else.",
        "the project does not exist",
    ),
    "Aborted": (
        Code.ABORTED,
        "Others changed the resource too often at the same time; try again.",
        "the resource was changed by somebody else at the same time; try again",
    ),
    "ResourceExhausted": (
        Code.RESOURCE_EXHAUSTED,
        "Too many requests of this token or service; try again after `Retry-After` seconds.",
        "too many requests with this access token; try again in 7 s",
    ),
    "Unavailable": (
        Code.UNAVAILABLE,
        "The Kubernetes API is away; try again after `Retry-After` seconds.",
        "the Kubernetes API cannot be reached now; try again",
    ),
}


def install(app: FastAPI, settings: Settings) -> None:
    """Makes `app.openapi()` give the whole document, built once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(app, settings)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def document(app: FastAPI, settings: Settings) -> dict[str, Any]:
    schema = get_openapi(
        title="OnAir",
        version=VERSION,
        description=DESCRIPTION,
        routes=app.routes,
        tags=TAGS,
        servers=[{"url": settings.public_url}],
    )
    schema["components"] = {
        "schemas": {**live_schemas(), **layout_schemas(), **event_schemas(), "Error": _error_schema()},
        "responses": {name: _error_response(*rest) for name, rest in _ERRORS.items()},
        "securitySchemes": {
            "AccessToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        },
    }
    return schema


def _error_schema() -> dict[str, Any]:
    violation = {
        "type": "object",
        "properties": {"field": {"type": "string"}, "description": {"type": "string"}},
    }
    return {
        "type": "object",
        "description": "A canonical RPC error.",
        "required": ["code", "message", "details"],
        "properties": {
            "code": {"type": "integer", "enum": [int(code) for code in Code]},
            "message": {"type": "string", "description": "For people."},
            "details": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "@type": {"type": "string"},
                        "fieldViolations": {"type": "array", "items": violation},
                    },
                    "required": ["@type"],
                },
            },
        },
    }


def _error_response(code: Code, description: str, message: str) -> dict[str, Any]:
    example: dict[str, Any] = {"code": int(code), "message": message, "details": []}
    if code is Code.INVALID_ARGUMENT:
        field, _, said = message.partition(": ")
        example["details"] = [
            {"@type": BAD_REQUEST, "fieldViolations": [{"field": field, "description": said}]}
        ]
    body = {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}
    return {"description": description, "content": {"application/json": body}}
