"""The API server's responses as the interface's errors."""

from __future__ import annotations

import pytest

from onair_api.errors import BAD_REQUEST, Code, InvalidArgument, Violation
from onair_api.kubernetes_errors import description, field_path, rpc_error
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.shapes import Document


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (ApiError(404, "NotFound", "x"), Code.NOT_FOUND, 404),
        (ApiError(409, "Conflict", "x"), Code.ABORTED, 409),
        (ApiError(409, "AlreadyExists", "x"), Code.ALREADY_EXISTS, 409),
        (ApiError(422, "Invalid", "x"), Code.INVALID_ARGUMENT, 400),
        (ApiError(400, "BadRequest", "x"), Code.INVALID_ARGUMENT, 400),
        (ApiError(400, "BadRequest", 'strict decoding error: unknown field "spec.x"'), Code.UNAVAILABLE, 503),
        (
            ApiError(422, "Invalid", '"{}": strict decoding error: unknown field "spec.x"'),
            Code.UNAVAILABLE,
            503,
        ),
        (ApiError(413, "RequestEntityTooLarge", "x"), Code.INVALID_ARGUMENT, 400),
        (
            ApiUnavailable(500, "InternalError", "etcdserver: request is too large"),
            Code.INVALID_ARGUMENT,
            400,
        ),
        (ApiError(403, "Forbidden", "exceeded quota: shows"), Code.RESOURCE_EXHAUSTED, 429),
        (ApiError(403, "Forbidden", "cannot create"), Code.INTERNAL, 500),
        (ApiUnavailable(429, "TooManyRequests", "x"), Code.UNAVAILABLE, 503),
        (ApiUnavailable(500, "InternalError", "x"), Code.UNAVAILABLE, 503),
        (ApiUnavailable(503, "ServiceUnavailable", "x"), Code.UNAVAILABLE, 503),
    ],
)
def test_each_response_has_one_meaning(error: ApiError, code: Code, status: int) -> None:
    response = rpc_error(error)
    assert (response.code, response.code.http_status) == (code, status)
    assert set(response.body()) == {"code", "message", "details"}
    assert ("Retry-After" in response.headers) == (status in (429, 503))


EXCEEDED = 'projects.onair.dev "a" is forbidden: exceeded quota: onair, requested: count/projects.onair.dev'


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            f"{EXCEEDED}=1, used: count/projects.onair.dev=5, limited: count/projects.onair.dev=5",
            "projects 5 of 5",
        ),
        (
            f"{EXCEEDED}=1,pods=1, used: pods=3,count/secrets=9, limited: pods=3,count/secrets=9",
            "pods 3 of 3, secrets 9 of 9",
        ),
        ("exceeded quota: shows", "the installation's quota for such resources is used up"),
    ],
)
def test_a_quota_of_the_namespace_is_named_with_its_count(message: str, said: str) -> None:
    assert said in rpc_error(ApiError(403, "Forbidden", message)).message


def test_causes_become_field_violations() -> None:
    causes: list[Document] = [
        {
            "field": "spec.composition.external.url",
            "message": 'Invalid value: "string": must be an http or https URL',
        },
        {"field": "spec.rendering.video.width", "message": "Invalid value: 1281: must be even"},
        {"field": "spec.address.rtmpPush.keySecretRef.name", "message": "Required value"},
    ]
    response = rpc_error(ApiError(422, "Invalid", "long", causes))
    assert isinstance(response, InvalidArgument)
    assert response.violations == [
        Violation("composition.external.url", "must be an http or https URL"),
        Violation("rendering.video.width", "must be even"),
        Violation("address.rtmpPush.key", "is required"),
    ]
    assert response.details[0]["@type"] == BAD_REQUEST


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('Invalid value: "a: b": must be even', "must be even"),
        ('Invalid value: "quote \\" in": must be even', "must be even"),
        ("Too long: may not be more than 63 bytes", "may not be more than 63 bytes"),
        ('Unsupported value: "X": supported values: "A", "B"', 'supported values: "A", "B"'),
        ("Required value", "is required"),
        ("something new", "something new"),
    ],
)
def test_a_cause_is_told_without_the_value(message: str, said: str) -> None:
    assert description(message) == said


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("spec", ""),
        ("spec.a.b", "a.b"),
        ("spec.address.x.secretKeySecretRef", "address.x.secretKey"),
        ("<nil>", ""),
    ],
)
def test_paths_are_those_of_the_interface(path: str, field: str) -> None:
    assert field_path(path) == field
