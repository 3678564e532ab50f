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
