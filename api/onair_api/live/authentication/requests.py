"""Decodes and validates requests of token operations. Pure; every wrong field is named at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_snake

from onair_api.auth.guest_links import GuestLinks
from onair_api.auth.tokens import MAX_TOKEN_CHARACTERS
from onair_api.auth.verified_token import TokenKind
from onair_api.errors import InvalidArgument, Violation
from onair_api.settings import MAX_TOKEN_DURATION_MS, TokenSettings
from onair_api.wire.decode import INTEGER_TEXT
from onair_crds.resources.base import MAX_ID, MAX_URL
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonObject

MAX_USER_ID = 256
MAX_DISPLAY_NAME = 256


@dataclass(frozen=True)
class BackendRequest:
    """A backend's request for a token of one of its users."""

    service_user_id: str
    display_name: str
    role: Role
    duration_ms: int


@dataclass(frozen=True)
class GuestRequest:
    """A request for a guest's token."""

    collection_id: str
    project_id: str
    role: Role
    kind: TokenKind
    duration_ms: int
    """Life of the session: of a DIRECT token itself, of what an EXCHANGE token is redeemed for."""
    redeemable_ms: int
    """How long an EXCHANGE token can be redeemed."""
    display_name: str
    service_user_id: str
    url: str
    """Where a short url leads to; empty if none is wanted."""


def backend_request(body: JsonObject, settings: TokenSettings) -> BackendRequest:
    """Decodes the request of a backend.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    user_id = text(body, "serviceUserId", MAX_USER_ID, wrong)
    if not user_id and not wrong:
        wrong.append(Violation("serviceUserId", "is required"))
    elif any(c.isspace() for c in user_id):
        wrong.append(Violation("serviceUserId", "must not contain spaces"))
    asked = BackendRequest(
        user_id,
        text(body, "displayName", MAX_DISPLAY_NAME, wrong),
        _role(body, Role.HOST, wrong),
        _duration_ms(body, settings.default_duration_ms, wrong),
    )
    if wrong:
        raise InvalidArgument(*wrong)
    return asked


def revoked_token(body: JsonObject) -> str:
    """The token that a backend wants to end.

    Raises:
        InvalidArgument: there is none.
    """
    wrong: list[Violation] = []
    token = text(body, "accessToken", MAX_TOKEN_CHARACTERS, wrong)
    if not token and not wrong:
        wrong.append(Violation("accessToken", "is required"))
    if wrong:
        raise InvalidArgument(*wrong)
    return token


def guest_request(
    body: JsonObject, settings: TokenSettings, links: GuestLinks, *, for_code: bool = False
) -> GuestRequest:
    """Decodes a request for a guest's token or code.

    Args:
        links: where guests may be led to.
        for_code: a guest code is asked for: it needs a url, and is of kind EXCHANGE unless said otherwise.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    collection_id, project_id = (_required_id(body, name, wrong) for name in ("collectionId", "projectId"))
    kind, options, path = _kind(body, wrong, TokenKind.EXCHANGE if for_code else None)
    url = text(body, "url", MAX_URL, wrong)
    if for_code and not url:
        wrong.append(Violation("url", "is required"))
    elif url and (refusal := links.refusal(url)):
        wrong.append(Violation("url", refusal))
    direct = kind is TokenKind.DIRECT
    user_id = text(options, "serviceUserId", MAX_USER_ID, wrong, path) if direct else ""
    if any(c.isspace() for c in user_id):
        wrong.append(Violation(f"{path}serviceUserId", "must not contain spaces"))
    exchange_ms = settings.exchange_duration_ms
    asked = GuestRequest(
        collection_id,
        project_id,
        _role(body, Role.GUEST, wrong),
        kind,
        _duration_ms(body, settings.default_duration_ms, wrong),
        exchange_ms if direct else _duration_ms(options, exchange_ms, wrong, path),
        text(options, "displayName", MAX_DISPLAY_NAME, wrong, path) if direct else "",
        user_id,
        url,
    )
    if wrong:
        raise InvalidArgument(*wrong)
    return asked


def _value(body: JsonObject, name: str) -> Any:
    """A field in either spelling of proto JSON; null is absent."""
    return body.get(name, body.get(to_snake(name)))


def text(body: JsonObject, name: str, longest: int, wrong: list[Violation], path: str = "") -> str:
    """A text, or an empty one."""
    value = _value(body, name)
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        wrong.append(Violation(path + name, "must be a string"))
        return ""
    if len(value) > longest:
        wrong.append(Violation(path + name, f"must be at most {longest} characters"))
    return value


def _required_id(body: JsonObject, name: str, wrong: list[Violation]) -> str:
    before = len(wrong)
    value = text(body, name, MAX_ID, wrong)
    if not value and len(wrong) == before:
        wrong.append(Violation(name, "is required"))
    return value


def _role(body: JsonObject, default: Role, wrong: list[Violation]) -> Role:
    try:
        return Role.from_wire(text(body, "role", 64, wrong) or Role.unspecified()) or default
    except ValueError as error:
        wrong.append(Violation("role", str(error)))
        return default


def _kind(
    body: JsonObject, wrong: list[Violation], default: TokenKind | None
) -> tuple[TokenKind, JsonObject, str]:
    """The member that is given, what is in it, and the path before its fields.

    `interface.md` shows the select-one inside `token`; proto JSON has its members next to the others. Both
    are read.
    """
    inner = _value(body, "token")
    holder, path = (body, "") if inner is None else (inner, "token.")
    if not isinstance(holder, dict):
        wrong.append(Violation("token", "must be an object"))
        return TokenKind.DIRECT, {}, path
    kinds = (TokenKind.DIRECT, TokenKind.EXCHANGE)
    given = [kind for kind in kinds if _value(holder, kind) is not None]
    beside = [kind for kind in kinds if inner is not None and _value(body, kind) is not None]
    if not given and not beside and default:
        return default, {}, path
    if len(given) + len(beside) != 1 or not given:
        wrong.append(Violation("token", "exactly one of direct, exchange must be given"))
        return TokenKind.DIRECT, {}, path
    options = _value(holder, given[0])
    if not isinstance(options, dict):
        wrong.append(Violation(path + given[0], "must be an object"))
        options = {}
    return given[0], options, f"{path}{given[0]}."


def _duration_ms(body: JsonObject, default_ms: int, wrong: list[Violation], path: str = "") -> int:
    value = _value(body, "maxDuration")
    name = f"{path}maxDuration"
    if value is None:
        return default_ms
    if isinstance(value, str) and INTEGER_TEXT.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        wrong.append(Violation(name, "must be an integer, as a number or a string"))
    elif not 1 <= value <= MAX_TOKEN_DURATION_MS:
        wrong.append(Violation(name, f"must be from 1 to {MAX_TOKEN_DURATION_MS}"))
    else:
        return value
    return default_ms
