"""What an operation says of itself in the OpenAPI document, in one call beside its route."""

from __future__ import annotations

from typing import Any

from onair_api.errors import Code

Example = dict[str, Any] | list[dict[str, Any]]


_ERRORS = {
    Code.INVALID_ARGUMENT: "InvalidArgument",
    Code.UNAUTHENTICATED: "Unauthenticated",
    Code.PERMISSION_DENIED: "PermissionDenied",
    Code.NOT_FOUND: "NotFound",
    Code.ABORTED: "Aborted",
    Code.RESOURCE_EXHAUSTED: "ResourceExhausted",
    Code.UNAVAILABLE: "Unavailable",
}

_BY_ALL = (Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED, Code.UNAVAILABLE)

TOKEN: list[dict[str, list[str]]] = [{"AccessToken": []}]
API_KEY: list[dict[str, list[str]]] = [{"ApiKey": []}]


def operation(
    name: str,
    summary: str,
    *,
    path: tuple[str, ...] = (),
    query: dict[str, str] | None = None,
    filters: dict[str, dict[str, Any]] | None = None,
    request: str | None = None,
    response: str,
    example: Example | None = None,
    answer: Example | None = None,
    security: list[dict[str, list[str]]] = TOKEN,
    contended: bool = False,
    also: tuple[Code, ...] = (),
    errors: tuple[Code, ...] | None = None,
) -> dict[str, Any]:
    """Arguments for a route.

    The errors follow from the rest: whoever takes a path can miss what it names, whoever takes a body or a
    query can be given a wrong one.

    Args:
        name: RPC name of the operation; becomes the operationId.
        path: names of the path parameters.
        query: boolean query parameters and what they do.
        filters: other query parameters and their schemas.
        request, response: names in `#/components/schemas`.
        example, answer: bodies that work as they stand.
        contended: it changes what others change at the same time, and gives up after many attempts.
        also: errors beyond those.
        errors: these alone.
    """
    if errors is None:
        errors = (*_BY_ALL, *also)
        errors += (Code.INVALID_ARGUMENT,) if request or query or filters else ()
        errors += (Code.NOT_FOUND,) if path else ()
        errors += (Code.ABORTED,) if contended else ()
    extra: dict[str, Any] = {
        "parameters": [
            {"name": each, "in": "path", "required": True, "schema": {"type": "string"}} for each in path
        ]
        + [
            {"name": each, "in": "query", "description": text, "schema": {"type": "boolean"}}
            for each, text in (query or {}).items()
        ]
        + [{"name": each, "in": "query", "schema": schema} for each, schema in (filters or {}).items()],
        "security": security,
    }
    if request:
        content: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{request}"}}
        if example is not None:
            content["example"] = example
        extra["requestBody"] = {"content": {"application/json": content}}
    success: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{response}"}}
    if answer is not None:
        success["example"] = answer
    responses: dict[int | str, dict[str, Any]] = {
        200: {"description": "Success", "content": {"application/json": success}}
    }
    for code in sorted(set(errors), key=lambda code: code.http_status):
        responses[code.http_status] = {"$ref": f"#/components/responses/{_ERRORS[code]}"}
    return {
        "summary": summary,
        "operation_id": name,
        "openapi_extra": extra,
        "responses": responses,
        "response_model": None,
    }
