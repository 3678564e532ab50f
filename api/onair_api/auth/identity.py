"""Identities of callers, from the claims of verified access tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from onair_crds.contract.renderer_token import PROJECT_UID, user_id
from onair_crds.resources.enums import Role
from onair_crds.shapes import Claims

SCOPE_CREATE = "SCOPE_VAPI_CREATE"
ALL_SCOPES = (SCOPE_CREATE,)
API_KEY_CLAIM, LINEAGE_CLAIM = "apiKey", "lineage"


@dataclass(frozen=True)
class GuestControl:
    """The one project that a guest's token reaches."""

    collection_id: str
    project_id: str
    project_uid: str = ""
    """Its uid, so that the token reaches no later project of this id; empty in tokens from before it was."""

    def reaches(self, project_id: str, uid: str) -> bool:
        """Whether this is exactly that project."""
        return self.project_id == project_id and self.project_uid in ("", uid)


@dataclass(frozen=True)
class ApiKeyRef:
    """The API key that a token was issued with, or the token that issued it, and so on."""

    secret: str
    uid: str


class Origin(Protocol):
    """What a token, or what was given out for one, goes back to and ends with."""

    @property
    def lineage(self) -> tuple[str, ...]: ...

    @property
    def api_key(self) -> ApiKeyRef | None: ...

    @property
    def signing_key(self) -> str: ...


@dataclass(frozen=True)
class Identity:
    """Who calls: a user of a service, with a role and, for a guest, the project that they may reach."""

    service_id: str
    service_user_id: str
    display_name: str
    role: Role | None
    """None: a test token, which grants nothing."""
    scopes: tuple[str, ...]
    guest: GuestControl | None = None
    """None: a backend's token, which reaches what its user owns."""
    api_key: ApiKeyRef | None = None
    """None: of a page, whose token the operator signs; or of a token from before it was."""
    lineage: tuple[str, ...] = field(default=(), compare=False)
    """What the token goes back to: an id for each issue, its own at the end. A refresh gives no other."""
    signing_key: str = field(default="", compare=False)
    """Id of the key that signed the token that says this; empty before there is one."""

    @property
    def user_id(self) -> str:
        """The user's id in this service."""
        project = self.guest.project_uid or self.guest.project_id if self.guest else ""
        return user_id(self.service_id, self.service_user_id, project)

    @property
    def owner(self) -> tuple[str, str]:
        """The `Collection.spec.owner` of what this caller owns; of a guest, one that no collection has."""
        return ("", "") if self.guest else (self.service_id, self.service_user_id)

    @property
    def sees_secrets(self) -> bool:
        return self.role in (Role.HOST, Role.COHOST)

    @property
    def sees_addresses(self) -> bool:
        """Whether it is shown where destinations and pages are: not who only watches or talks."""
        return self.role not in (None, Role.GUEST, Role.VIEWER)

    def claims(self) -> Claims:
        """The claims of `operations.md`, "Tokens", without times."""
        role = self.role.wire if self.role else Role.unspecified()
        claims: Claims = {
            "sub": self.user_id,
            "user": {
                "userId": self.user_id,
                "serviceUserId": self.service_user_id,
                "displayName": self.display_name,
                "serviceId": self.service_id,
                "trial": False,
                "demo": False,
            },
            "role": role,
            "scopes": list(self.scopes),
        }
        if self.api_key:
            claims[API_KEY_CLAIM] = f"{self.api_key.secret}/{self.api_key.uid}"
        if self.lineage:
            claims[LINEAGE_CLAIM] = list(self.lineage)
        if self.guest:
            control = {"collectionId": self.guest.collection_id, "projectId": self.guest.project_id}
            claims["guestControl"] = {**control, "role": role}
            if self.guest.project_uid:
                claims[PROJECT_UID] = self.guest.project_uid
        return claims

    @classmethod
    def from_claims(cls, claims: Claims, signing_key: str) -> Identity:
        """Reads an identity from the claims of a token, and the id of the key that signed it.

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
            guest=_guest(claims),
            api_key=_api_key(claims),
            lineage=_lineage(claims),
            signing_key=signing_key,
        )


def _api_key(claims: Claims) -> ApiKeyRef | None:
    if API_KEY_CLAIM not in claims:
        return None
    secret, _, uid = _text(claims, API_KEY_CLAIM).partition("/")
    return ApiKeyRef(secret, uid)


def _lineage(claims: Claims) -> tuple[str, ...]:
    """One from before it was, and that of a page, begins with the token's own id."""
    lineage = claims.get(LINEAGE_CLAIM)
    if lineage is None:
        return (str(claims.get("jti")),)
    if not isinstance(lineage, list) or not lineage or not all(isinstance(each, str) for each in lineage):
        raise ValueError("the claim lineage is not valid")
    return tuple(lineage)


def _guest(claims: Claims) -> GuestControl | None:
    control = claims.get("guestControl")
    if control is None:
        return None
    if not isinstance(control, dict) or _text(control, "role") != claims["role"]:
        raise ValueError("the claim guestControl is not valid")
    uid = _text(claims, PROJECT_UID) if PROJECT_UID in claims else ""
    return GuestControl(_text(control, "collectionId"), _text(control, "projectId"), uid)


def _text(claims: Claims, name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise ValueError(f"the claim {name} is missing")
    return value
