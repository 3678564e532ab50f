"""What the API server's errors mean."""

from __future__ import annotations

import pytest

from onair_crds.kube.errors import ApiError


@pytest.mark.parametrize(
    ("status", "reason", "not_found"), [(404, "NotFound", True), (404, "", False), (410, "NotFound", False)]
)
def test_only_the_api_server_says_that_an_object_is_not_there(
    status: int, reason: str, *, not_found: bool
) -> None:
    """A load balancer's page, or the API server's own of a kind that it does not serve, has no reason."""
    assert ApiError(status, reason, "404 page not found").not_found == not_found


STRICT = 'strict decoding error: unknown field "spec.later"'


@pytest.mark.parametrize(
    ("status", "message", "fields"),
    [
        (400, f'Collection in version "v1alpha1" cannot be handled: {STRICT}', ["spec.later"]),
        (422, f' "" is invalid: patch: Invalid value: "{{}}": {STRICT}', ["spec.later"]),
        (422, f'Invalid value: "{{}}": {STRICT}, unknown field "spec.a[0].b"', ["spec.later", "spec.a[0].b"]),
        (422, f'spec.name: Invalid value: "{STRICT}": must be shorter', []),
        (400, "the object provided is unrecognized", []),
    ],
)
def test_fields_that_the_definitions_lack_are_named(status: int, message: str, fields: list[str]) -> None:
    assert ApiError(status, "Invalid", message).unknown_fields == fields
