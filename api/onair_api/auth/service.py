"""Access tokens for backends, renewal, test tokens, public keys."""

from __future__ import annotations

from typing import Any

from onair_api.auth.api_keys import ApiKeys, Service
from onair_api.auth.identity import SCOPE_CREATE, Identity
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.tokens import Tokens, Verified
from onair_api.errors import InvalidArgument, PermissionDenied, Violation
from onair_api.settings import MAX_TOKEN_DURATION_MS, TokenSettings
from onair_api.wire.reading import INTEGER_TEXT
from onair_crds.enums import Role

MAX_USER_ID = 256
MAX_DISPLAY_NAME = 256


class Authentication:
    def __init__(self, tokens: Tokens, keys: SigningKeys, api_keys: ApiKeys, settings: TokenSettings) -> None:
        self._tokens = tokens
        self._keys = keys
        self._api_keys = api_keys
        self._settings = settings

    def create(self, api_key: str | None, body: dict[str, Any]) -> dict[str, Any]:
        """A token for a session host, asked for by a backend."""
        service = self._api_keys.service_of(api_key)
        identity, duration_ms = backend_grant(service, body, self._settings.default_duration_ms)
        return {"accessToken": self._tokens.issue(identity, duration_ms)}

    def test_token(self, api_key: str | None) -> dict[str, Any]:
        """A token that verifies and grants nothing."""
        service = self._api_keys.service_of(api_key)
        identity = Identity(service.id, "", "", None, ())
        return {"accessToken": self._tokens.issue(identity, self._settings.default_duration_ms)}

    def renew(self, verified: Verified) -> str:
        return self._tokens.renew(verified)

    def jwks(self) -> dict[str, Any]:
        return {"keys": self._keys.jwks()}


def backend_grant(service: Service, body: dict[str, Any], default_ms: int) -> tuple[Identity, int]:
    """What a backend asks for, judged.

    Raises:
        InvalidArgument: names every wrong field.
        PermissionDenied: no backend may have that role.
    """
    wrong: list[Violation] = []
    user_id = _text(body, "serviceUserId", MAX_USER_ID, wrong)
    if not user_id and not wrong:
        wrong.append(Violation("serviceUserId", "is required"))
    elif any(c.isspace() for c in user_id):
        wrong.append(Violation("serviceUserId", "must not contain spaces"))
    display_name = _text(body, "displayName", MAX_DISPLAY_NAME, wrong)
    role = Role.HOST
    try:
        role = Role.from_wire(_text(body, "role", 64, wrong) or Role.unspecified()) or Role.HOST
    except ValueError as error:
        wrong.append(Violation("role", str(error)))
    duration_ms = _duration_ms(body, default_ms, wrong)
    if wrong:
        raise InvalidArgument(*wrong)
    if role is Role.PLATFORM:
        raise PermissionDenied("ROLE_PLATFORM is internal to the service")
    scopes = tuple(s for s in service.scopes if role is Role.HOST or s != SCOPE_CREATE)
    return Identity(service.id, user_id, display_name, role, scopes), duration_ms


def _text(body: dict[str, Any], name: str, longest: int, wrong: list[Violation]) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        wrong.append(Violation(name, "must be a string"))
        return ""
    if len(value) > longest:
        wrong.append(Violation(name, f"must be at most {longest} characters"))
    return value


def _duration_ms(body: dict[str, Any], default_ms: int, wrong: list[Violation]) -> int:
    value = body.get("maxDuration")
    if value is None:
        return default_ms
    if isinstance(value, str) and INTEGER_TEXT.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        wrong.append(Violation("maxDuration", "must be an integer, as a number or a string"))
    elif not 1 <= value <= MAX_TOKEN_DURATION_MS:
        wrong.append(Violation("maxDuration", f"must be from 1 to {MAX_TOKEN_DURATION_MS}"))
    else:
        return value
    return default_ms
