"""Callers: credentials of a request verified, counted and authorized, whichever door it came through."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from onair_api.auth.api_keys import ApiKeys, Backend
from onair_api.auth.identity import Identity
from onair_api.auth.rate_limits import RateLimits
from onair_api.auth.response_bytes import ResponseBytes
from onair_api.auth.roles import Roles, authorize
from onair_api.auth.tokens import Tokens
from onair_api.auth.verified_token import Verified
from onair_api.writes.request_note import RequestNote, request_metadata
from onair_crds.runtime.keyed_locks import KeyedLocks
from onair_crds.runtime.steps import PACE, SharedPace
from onair_crds.shapes import JsonObject

MAX_SESSION_ID = 128

C = TypeVar("C")


@dataclass(frozen=True)
class CallHeaders:
    """Credentials and session of a request: all that it carries besides its message."""

    authorization: str | None = None
    api_key: str | None = None
    session_id: str | None = None


@dataclass(frozen=True)
class Caller:
    """A caller with an access token."""

    token: Verified
    session_id: str | None = None
    """Named as the origin of the events that the request causes."""
    renewed_token: str | None = None
    """Successor of a token that is about to expire; goes with the response, whatever that is."""

    @property
    def identity(self) -> Identity:
        return self.token.identity

    def note(self, message: JsonObject | None = None, limit_bytes: int = 0) -> RequestNote:
        """The note that this request leaves on the objects that it writes.

        Raises:
            InvalidArgument: its `requestMetadata` is no object, or too large.
        """
        return RequestNote(self.session_id, request_metadata(message, limit_bytes) if message else None)


@dataclass(frozen=True)
class Callers:
    """Recognizes callers: tokens, API keys, how often each may call, how much each is sent at a time."""

    tokens: Tokens
    api_keys: ApiKeys
    rate_limits: RateLimits
    responses: ResponseBytes = field(default_factory=ResponseBytes)
    paces: WeakValueDictionary[str, SharedPace] = field(default_factory=WeakValueDictionary)
    """Of services; each lasts as long as work for the service."""

    decoding: KeyedLocks[str] = field(default_factory=KeyedLocks)
    """By token."""

    def in_order(self, caller: object) -> AbstractAsyncContextManager[None]:
        """For decoding requests of one token one after the other: none is to overtake a large one."""
        return self.decoding.of(caller.token.id) if isinstance(caller, Caller) else nullcontext()

    def begin(self, service_id: str) -> None:
        """Begins with a request of a service, in this context: long work of it shares the service's pace.

        Raises:
            ResourceExhausted: what the service has not read yet takes all that it may.
        """
        self.responses.check(service_id)
        pace = self.paces.get(service_id)
        if pace is None:
            pace = self.paces[service_id] = SharedPace()
        PACE.set(pace)


def service_of(caller: object) -> str | None:
    """The service that a request counts for; None without a credential."""
    if isinstance(caller, Caller):
        return caller.identity.service_id
    return caller.service_id if isinstance(caller, Backend) else None


class Access(ABC, Generic[C]):
    """Decides who may call an operation, as its row says; gives the caller that its service gets."""

    @abstractmethod
    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> C:
        """Returns the caller, once credential, rate and role are accepted.

        Raises:
            Unauthenticated: the credential is missing or not valid.
            ResourceExhausted: too many requests came with it or from its service.
            PermissionDenied: its role is not admitted.
        """


@dataclass(frozen=True)
class ByAccessToken(Access[Caller]):
    """Access tokens of some roles; each request counts for the token, its lineage and its service."""

    roles: Roles
    redeeming: bool = False
    """Also tokens of kind EXCHANGE, which are good for nothing but a refresh."""

    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> Caller:
        token = await callers.tokens.verify(headers.authorization, redeeming=self.redeeming)
        callers.rate_limits.count(token.id, token.identity.service_id, token.identity.lineage)
        authorize(token.identity, self.roles, operation)
        session_id = headers.session_id
        return Caller(
            token,
            session_id[:MAX_SESSION_ID] if session_id else None,
            callers.tokens.renewed_near_end(token),
        )


@dataclass(frozen=True)
class ByApiKey(Access[Backend]):
    """API keys of backends; each request counts for the service."""

    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> Backend:
        backend = callers.api_keys.backend_of(headers.api_key)
        callers.rate_limits.count(None, backend.service_id)
        return backend


@dataclass(frozen=True)
class ByAnybody(Access[None]):
    """No credential; nothing is counted."""

    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> None:
        return None
