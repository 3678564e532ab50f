"""The OpenAPI document, made from the table of operations."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from onair_api.auth.callers import Access, ByAccessToken, ByAnybody, ByApiKey
from onair_api.errors import BAD_REQUEST, Code
from onair_api.event.stream.http_stream import MEDIA_TYPES
from onair_api.http.responses import NEXT_PAGE
from onair_api.operation import Declaration, Example, Filter, Flag, ResponseKind, StreamOperation
from onair_api.operations import OPERATIONS, schemas
from onair_api.wire.schema import STRING
from onair_crds.shapes import JsonObject, JsonSchema

VERSIONS = {"live": "2.1", "layout": "2.0", "event": "2.0"}
"""Of the interfaces (`interface.md`, "Versioning"), by the first part of their paths. The document of all
has that of the Live interface, which the others belong to."""
MAIN = "live"

DESCRIPTION = """Live video production. A collection owns projects; a project renders a composition,
encodes it once and delivers it to every enabled destination.

A backend exchanges its API key for an access token; everything else takes that token."""

TAGS = [
    {"name": "authentication", "description": "Access tokens and the keys that verify them."},
    {"name": "collections", "description": "What one user of one service owns."},
    {"name": "projects", "description": "One show each: what is rendered and how it is encoded."},
    {"name": "destinations", "description": "Where a project's programme is delivered to."},
    {"name": "broadcasts", "description": "On air and off."},
    {"name": "sources", "description": "Live inputs of a collection, and how projects use them."},
    {"name": "webrtc", "description": "Hosted rooms, which LiveKit's clients join below `/webrtc/v2`."},
    {"name": "layouts", "description": "Canvases of the scene compositor, and how one replaces another."},
    {"name": "layers", "description": "What is drawn on a layout, and in which order."},
    {"name": "events", "description": "Custom events and changes of resources, published and streamed."},
]

_ERRORS: dict[Code, tuple[str, str]] = {
    Code.INVALID_ARGUMENT: (
        "The request is invalid (code 3, names every field), or not allowed in the present state (code 9).",
        "rendering.video.width: must be from 320 to 3840 and even",
    ),
    Code.UNAUTHENTICATED: (
        "No credential, or an invalid one.",
        "the access token is not valid: it has expired",
    ),
    Code.PERMISSION_DENIED: (
        "The caller's role does not include this.",
        "ROLE_VIEWER may not call UpdateProject",
    ),
    Code.NOT_FOUND: (
        "Does not exist, or belongs to another user.",
        "the project does not exist",
    ),
    Code.ABORTED: (
        "Others changed the resource too often at the same time; try again.",
        "the resource was changed by others at the same time; try again",
    ),
    Code.RESOURCE_EXHAUSTED: (
        "Too many requests of this token or service; try again after `Retry-After` seconds.",
        "too many requests with this access token; try again in 7 s",
    ),
    Code.UNAVAILABLE: (
        "The Kubernetes API is unreachable; try again after `Retry-After` seconds.",
        "the Kubernetes API is unreachable; try again",
    ),
}
"""Description and an example of the message."""

_SECURITY: dict[type[Access[Any]], list[dict[str, list[str]]]] = {
    ByAccessToken: [{"AccessToken": []}],
    ByApiKey: [{"ApiKey": []}],
    ByAnybody: [],
}


def install(app: FastAPI, public_url: str) -> None:
    """Makes `app.openapi()` give the whole document, built once.

    Args:
        public_url: where clients reach the interface.
    """

    def openapi() -> JsonObject:
        if app.openapi_schema is None:
            app.openapi_schema = document(public_url)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def document(public_url: str, interface: str | None = None) -> JsonObject:
    """The document of the table, or of one interface's part of it."""
    paths: dict[str, JsonObject] = {}
    for operation in OPERATIONS:
        if interface and _interface(operation) != interface:
            continue
        path = paths.setdefault(operation.http.path, {})
        path[operation.http.method.lower()] = _operation(operation, operation.name)
        if method := operation.http.alternate_method:
            path[method.lower()] = _operation(operation, f"{operation.name}By{method.title()}")
    known = {**schemas(), "Error": _error_schema()}
    used = {tag for path in paths.values() for operation in path.values() for tag in operation["tags"]}
    title = f"OnAir, the {interface} interface" if interface else "OnAir"
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "description": DESCRIPTION, "version": VERSIONS[interface or MAIN]},
        "servers": [{"url": public_url}],
        "paths": paths,
        "components": {
            "schemas": _reachable(paths, known) if interface else known,
            "responses": {code.name.title().replace("_", ""): _error_response(code) for code in _ERRORS},
            "securitySchemes": {
                "AccessToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
        "tags": [tag for tag in TAGS if tag["name"] in used],
    }


def _interface(operation: Declaration[Any]) -> str:
    """By the first part of the path; short links belong to the interface that makes them."""
    first = operation.http.path.split("/")[1]
    return first if first in VERSIONS else MAIN


def _reachable(paths: JsonObject, known: JsonObject) -> JsonObject:
    """The schemas that paths name, and those that these name; the stream's requests are named in words."""
    found = {"Error", "StreamEventsRequest"} if any("/stream" in path for path in paths) else {"Error"}
    waiting: list[Any] = [paths, *(known[name] for name in found)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name in known and name not in found:
                found.add(name)
                waiting.append(known[name])
            waiting += node.values()
    return {name: schema for name, schema in known.items() if name in found}


def _operation(operation: Declaration[Any], operation_id: str) -> JsonObject:
    described: JsonObject = {
        "tags": [operation.docs.tag],
        "summary": operation.docs.summary,
        "description": operation.docs.description,
        "operationId": operation_id,
        "parameters": [
            *(
                _parameter(name, "path", STRING) | {"required": True}
                for name in operation.http.path_parameters
            ),
            *map(_query_parameter, operation.messages.query),
        ],
        "security": _SECURITY[type(operation.access)],
        "responses": _responses(operation),
    }
    if operation.messages.request:
        content = _content(operation.messages.request, operation.messages.example)
        described["requestBody"] = {"content": {"application/json": content}}
    return described


def _query_parameter(parameter: Flag | Filter) -> JsonObject:
    if isinstance(parameter, Flag):
        described = _parameter(parameter.name, "query", {"type": "boolean"})
        return described | {
            "description": f"{parameter.description} Default {str(parameter.default).lower()}."
        }
    return _parameter(parameter.name, "query", parameter.schema)


def _parameter(name: str, place: str, schema: JsonSchema) -> JsonObject:
    return {"name": name, "in": place, "schema": schema}


def _content(schema: str, example: Example | None) -> JsonObject:
    content: JsonObject = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    return content if example is None else {**content, "example": example}


def _responses(operation: Declaration[Any]) -> JsonObject:
    if operation.http.response is ResponseKind.REDIRECT:
        responses: JsonObject = {
            "302": {
                "description": "Redirects to the long url, with the guest's token as query parameter `at`."
            }
        }
    else:
        content = {
            "application/json": _content(operation.messages.response, operation.messages.response_example)
        }
        if isinstance(operation, StreamOperation):
            content = dict.fromkeys(MEDIA_TYPES.values(), content["application/json"])
        if operation.http.response is ResponseKind.IMAGE:
            content["image/jpeg"] = {"schema": {"type": "string", "format": "binary"}}
        responses = {"200": {"description": "Success", "content": content}}
        if operation.http.response is ResponseKind.LIST:
            text = "Token of the next page; absent on the last one."
            responses["200"]["headers"] = {NEXT_PAGE: {"description": text, "schema": STRING}}
    for code in sorted(operation.error_codes, key=lambda code: code.http_status):
        name = code.name.title().replace("_", "")
        responses[str(code.http_status)] = {"$ref": f"#/components/responses/{name}"}
    return responses


def _error_schema() -> JsonObject:
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


def _error_response(code: Code) -> JsonObject:
    description, message = _ERRORS[code]
    example: JsonObject = {"code": int(code), "message": message, "details": []}
    if code is Code.INVALID_ARGUMENT:
        field, _, said = message.partition(": ")
        example["details"] = [
            {"@type": BAD_REQUEST, "fieldViolations": [{"field": field, "description": said}]}
        ]
    body = {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}
    return {"description": description, "content": {"application/json": body}}
