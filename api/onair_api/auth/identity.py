"""Who calls: what a verified access token says."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from onair_crds.enums import Role

SCOPE_CREATE = "SCOPE_VAPI_CREATE"
ALL_SCOPES = (SCOPE_CREATE,)

_USERS = uuid.UUID("6b1f0a52-6f0e-5a5e-9a53-0d3c1c5f8f10")


@dataclass(frozen=True)
class Identity:
    service_id: str
    service_user_id: str
    display_name: str
    role: Role | None
    """None: a test token, which grants nothing."""
    scopes: tuple[str, ...]

    @property
    def user_id(self) -> str:
        """The user's id in this service: a function of the backend's ids, so it needs no storage."""
        return str(uuid.uuid5(_USERS, f"{self.service_id}\n{self.service_user_id}"))

    @property
    def owner(self) -> tuple[str, str]:
        """What `Collection.spec.owner` must be for this caller to own it."""
        return self.service_id, self.service_user_id

    @property
    def sees_secrets(self) -> bool:
        return self.role in (Role.HOST, Role.COHOST)

    def claims(self) -> dict[str, Any]:
        """The claims of `operations.md`, "Tokens", without times."""
        return {
            "sub": self.user_id,
            "user": {
                "userId": self.user_id,
                "serviceUserId": self.service_user_id,
                "displayName": self.display_name,
                "serviceId": self.service_id,
                "trial": False,
                "demo": False,
            },
            "role": self.role.wire if self.role else Role.unspecified(),
            "scopes": list(self.scopes),
        }

    @classmethod
    def from_claims(cls, claims: dict[str, Any]) -> Identity:
        """
        Raises:
            ValueError: the claims are not of the form that this service writes.
        """
        user = claims.get("user")
        scopes = claims.get("scopes")
        if not isinstance(user, dict) or not isinstance(scopes, list):
            raise ValueError("a claim is missing")
        return cls(
            service_id=_text(user, "serviceId"),
            service_user_id=_text(user, "serviceUserId"),
            display_name=_text(user, "displayName"),
            role=Role.from_wire(_text(claims, "role")),
            scopes=tuple(str(scope) for scope in scopes),
        )


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise ValueError(f"the claim {name} is missing")
    return value
