"""What backends are granted."""

from __future__ import annotations

import pytest
from tests.support.token_issuer import DAY_MS

from onair_api.auth.api_keys import Backend
from onair_api.auth.identity import ALL_SCOPES
from onair_api.errors import PermissionDenied
from onair_api.live.authentication.requests import backend_request
from onair_api.live.authentication.service import backend_identity
from onair_api.settings import TokenSettings
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject

BACKEND = Backend("studio", ALL_SCOPES)


SETTINGS = TokenSettings(default_duration_ms=DAY_MS)


@pytest.mark.parametrize(
    ("body", "role", "duration_ms", "scopes"),
    [
        ({}, Role.HOST, DAY_MS, ALL_SCOPES),
        ({"role": "ROLE_UNSPECIFIED", "maxDuration": "5000"}, Role.HOST, 5000, ALL_SCOPES),
        ({"role": "ROLE_VIEWER", "maxDuration": 604_800_000}, Role.VIEWER, 604_800_000, ()),
    ],
)
def test_what_a_backend_is_granted(
    body: JsonObject, role: Role, duration_ms: int, scopes: tuple[str, ...]
) -> None:
    asked = backend_request({"serviceUserId": "anna", **body}, SETTINGS)
    identity = backend_identity(BACKEND, asked)
    assert (identity.role, asked.duration_ms, identity.scopes) == (role, duration_ms, scopes)
    assert identity.owner == ("studio", "anna")


def test_no_backend_becomes_the_platform() -> None:
    with pytest.raises(PermissionDenied):
        backend_identity(BACKEND, backend_request({"serviceUserId": "a", "role": "ROLE_PLATFORM"}, SETTINGS))
