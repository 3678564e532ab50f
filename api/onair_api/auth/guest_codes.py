"""Guest codes: short urls that lead a guest to a page with a token. Secrets named by the code's hash."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import secrets
import string
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

import jwt
import structlog

from onair_api.auth.expiry import Sweeper, expires_annotation, expiry_of
from onair_api.auth.guest_links import GuestLinks
from onair_api.auth.revocation import RevokedTokens
from onair_api.auth.tokens import Issued
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import GUEST_CODE, PROJECT
from onair_api.errors import NotFound
from onair_api.writes.quota_enforcement import Quotas
from onair_crds.contract.labels import CREATED_ANNOTATION, GUEST_CODE_LABEL, GUEST_CODE_TYPE, MADE_BY_FACADE
from onair_crds.contract.owners import owner_reference
from onair_crds.contract.times import format_time
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.runtime.steps import in_steps
from onair_crds.shapes import Document, JsonObject

log = structlog.get_logger()

CHARACTERS = string.ascii_lowercase + string.digits
LENGTH = 14
"""72 random bits: short in a chat, and not guessable."""
TOKEN_PARAMETER = "at"  # noqa: S105 - the name of a query parameter

UNKNOWN = "the guest code does not exist"


@dataclass(frozen=True)
class GuestCode:
    """A code as its Secret holds it."""

    service_id: str
    collection_id: str
    project_id: str
    code: str
    url: str
    """Where it leads to."""
    token: str
    token_id: str

    @classmethod
    def of(cls, entry: Entry) -> GuestCode | None:
        """Reads a code from its Secret; None if that does not have the form that this service writes."""
        data = entry.document.get("data") or {}
        try:
            return cls(*(base64.b64decode(data[name]).decode() for name in _FIELDS))
        except (KeyError, TypeError, ValueError, binascii.Error):
            return None

    def data(self) -> dict[str, str]:
        values = (getattr(self, name) for name in self.__dataclass_fields__)
        return {name: base64.b64encode(v.encode()).decode() for name, v in zip(_FIELDS, values, strict=True)}


_FIELDS = ("serviceId", "collectionId", "projectId", "code", "url", "token", "tokenId")


@dataclass(frozen=True)
class StoredCode:
    """A code that has not expired, with the Secret that holds it."""

    secret: Entry
    code: GuestCode
    expires: dt.datetime


class ShownCode(NamedTuple):
    """A code as lists show it."""

    record: JsonObject
    expires: dt.datetime


_SHOWN = "shown"


def _stored(secret: Entry | None) -> StoredCode:
    """
    Raises:
        NotFound: there is no Secret, or what it holds is no code, or has expired.
    """
    code, expires = (GuestCode.of(secret), expiry_of(secret)) if secret else (None, None)
    if secret is None or not code or not expires or expires <= dt.datetime.now(dt.UTC):
        raise NotFound(UNKNOWN)
    return StoredCode(secret, code, expires)


def secret_name(service_id: str, code: str) -> str:
    """The name of a code's Secret: a hash, so that a list of names gives no code away."""
    digest = hashlib.sha256(f"{service_id}\n{code}".encode()).hexdigest()
    return f"guest-code-{digest[:40]}"


class GuestCodes:
    """Stores, finds and deletes guest codes."""

    def __init__(
        self,
        cluster: Cluster,
        revoked: RevokedTokens,
        sweeper: Sweeper,
        public_url: str,
        quotas: Quotas,
        links: GuestLinks,
    ) -> None:
        self._links = links
        self._quotas = quotas
        self._cluster = cluster
        self._revoked = revoked
        self._sweeper = sweeper
        self._public_url = public_url.rstrip("/")

    async def create(self, service_id: str, project: Entry, url: str, issued: Issued) -> JsonObject:
        """Stores a code for a token that was just issued; gives its record.

        Args:
            url: where the code leads to.

        Raises:
            QuotaExceeded: there are too many.
            ApiError: the API server did not respond.
        """
        code = GuestCode(
            service_id,
            str(project.spec.get("collectionId")),
            project.name,
            "".join(secrets.choice(CHARACTERS) for _ in range(LENGTH)),
            url,
            issued.token,
            issued.id,
        )
        now, expires = dt.datetime.now(dt.UTC), dt.datetime.fromtimestamp(issued.expires, dt.UTC)
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": GUEST_CODE_TYPE,
            "immutable": True,
            "metadata": {
                "name": secret_name(code.service_id, code.code),
                "labels": {**MADE_BY_FACADE, GUEST_CODE_LABEL: project.name},
                "annotations": {
                    **expires_annotation(expires),
                    CREATED_ANNOTATION: format_time(now, "microseconds"),
                },
                "ownerReferences": [owner_reference(project.kind, project.name, project.uid)],
            },
            "data": code.data(),
        }
        cluster = self._cluster
        # Its deletion is to be recorded
        with self._quotas.revoking(service_id), self._quotas.creating(GUEST_CODE, document):
            created = await cluster.client.create(
                cluster.api(GUEST_CODE), cluster.namespace(GUEST_CODE), document
            )
            cluster.view.put(GUEST_CODE, created)
        log.info("guest_code.created", project=project.name)
        return self._record(code, expires)

    async def find(self, service_id: str, code: str) -> StoredCode:
        """Returns a service's guest code.

        Raises:
            NotFound: the service has no such code, or it has expired.
        """
        return _stored(await self._cluster.get(GUEST_CODE, secret_name(service_id, code)))

    async def delete(self, stored: StoredCode) -> None:
        """Deletes the code and revokes its token.

        Raises:
            ApiError: the API server did not respond; what is left is deleted when the caller retries.
        """
        code = stored.code
        await self._revoked.revoke(code.token_id, stored.expires.timestamp(), code.service_id)
        await self._sweeper.delete(stored.secret)
        log.info("guest_code.deleted", project=code.project_id)

    def record(self, stored: StoredCode) -> JsonObject:
        """The code as HTTP shows it. It is a secret."""
        return self._record(stored.code, stored.expires)

    async def of_project(self, project: Entry) -> list[JsonObject]:
        """The codes of a project that have not expired, oldest first. They are secrets."""
        now = dt.datetime.now(dt.UTC)
        codes = [
            self._shown(secret)
            async for secret in in_steps(self._cluster.view.children(GUEST_CODE, project.name))
        ]
        return [shown.record for shown in codes if shown and shown.expires > now]

    def target(self, service_id: str, code: str) -> str:
        """Where a code leads to, with its token.

        Only from the view: callers without credentials must not load the API server.

        Raises:
            NotFound: there is no such code, or it has expired, or leads where nobody is led to any more.
        """
        view = self._cluster.view
        found = _stored(view.get(GUEST_CODE, secret_name(service_id, code))).code
        if view.get(PROJECT, found.project_id) is None or self._links.refusal(found.url):
            raise NotFound(UNKNOWN)
        return with_token(found.url, found.token)

    def _shown(self, secret: Entry) -> ShownCode | None:
        """What is shown of a Secret, which never changes; None if it holds no code."""
        if _SHOWN not in secret.records:
            code, expires = GuestCode.of(secret), expiry_of(secret)
            shown = ShownCode(self._record(code, expires), expires) if code and expires else None
            secret.records[_SHOWN] = shown
        found: ShownCode | None = secret.records[_SHOWN]
        return found

    def _record(self, code: GuestCode, expires: dt.datetime) -> JsonObject:
        link = f"{self._public_url}/r/{quote(code.service_id, safe='')}/{code.code}"
        return {
            "collectionId": code.collection_id,
            "projectId": code.project_id,
            "code": code.code,
            "url": link,
            "linkUrl": link,  # the name that public clients read
            "targetUrl": code.url,
            "role": role_in(code.token),
            "autoDelete": expires.isoformat().replace("+00:00", "Z"),
        }


def role_in(token: str) -> str:
    """The role that a token of this service is for."""
    try:
        return str(jwt.decode(token, options={"verify_signature": False})["role"])
    except (jwt.PyJWTError, KeyError):
        return Role.unspecified()


def with_token(url: str, token: str) -> str:
    """A url with the token as its query parameter `at`; the rest stays as it was written, in ASCII."""
    parts = urlsplit(url)
    kept = [each for each in parts.query.split("&") if each and each.partition("=")[0] != TOKEN_PARAMETER]
    whole = urlunsplit(parts._replace(query="&".join([*kept, f"{TOKEN_PARAMETER}={token}"])))
    return quote(whole, safe=string.punctuation)  # a header line takes nothing else
