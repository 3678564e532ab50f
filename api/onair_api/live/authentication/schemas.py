"""Schemas of the token operations for the OpenAPI document."""

from __future__ import annotations

from onair_api.wire.schema import (
    INTEGER,
    STRING,
    TIME,
    Schemas,
    array,
    enumeration,
    optional,
    record,
    reference,
)
from onair_crds.resources.enums import Role
from onair_crds.shapes import JsonSchema

_NAME: JsonSchema = {**STRING, "maxLength": 256}
_URL: JsonSchema = {
    **STRING,
    "maxLength": 2048,
    "description": "http or https; where the short url redirects to.",
}


def _duration(default: int) -> JsonSchema:
    """Milliseconds."""
    return {**INTEGER, "minimum": 1, "maximum": 604_800_000, "default": default}


_CODE = ("collectionId", "projectId", "code", "url", "linkUrl", "targetUrl")


def token_schemas() -> Schemas:
    """Every schema that only token operations name."""
    session = {"role": enumeration(Role), "maxDuration": _duration(172_800_000)}
    direct = optional({"displayName": _NAME, "serviceUserId": _NAME})
    exchange = optional({"maxDuration": _duration(300_000)})
    guest = {
        "collectionId": STRING,
        "projectId": STRING,
        **session,
        "direct": {
            **direct,
            "description": "Can be used directly; its first refresh returns a session token.",
        },
        "exchange": {
            **exchange,
            "description": "Can only be refreshed; every refresh returns a session token.",
        },
        "token": {**optional({"direct": direct, "exchange": exchange}), "description": "Another form."},
        "url": _URL,
    }
    ids = ["collectionId", "projectId"]
    key = record(dict.fromkeys(("alg", "kty", "use", "kid", "e", "n"), STRING))
    code = {**dict.fromkeys(_CODE, STRING), "role": enumeration(Role), "autoDelete": TIME}
    backend = {"serviceUserId": {**_NAME, "minLength": 1}, "displayName": _NAME, **session}
    return {
        "CreateAccessTokenRequest": {**optional(backend), "required": ["serviceUserId"]},
        "RevokeIssuedAccessTokenRequest": record({"accessToken": STRING}),
        "CreateAccessTokenResponse": record({"accessToken": STRING}),
        "CreateGuestAccessTokenRequest": {**optional(guest), "required": ids},
        "CreateGuestAccessTokenResponse": record({"accessToken": STRING, "url": STRING}, ("accessToken",)),
        "CreateGuestCodeRequest": {**optional(guest), "required": [*ids, "url"]},
        "GuestCode": record(code),
        "GuestCodeResponse": record({"guestCode": reference("GuestCode")}),
        "GetGuestCodesResponse": record({"guestCodes": array(reference("GuestCode"))}),
        "JsonWebKeySet": record({"keys": {"type": "array", "items": key}}),
    }
