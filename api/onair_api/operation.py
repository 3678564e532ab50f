"""Operations of the interface, as the rows of the table declare them: once, for every door.

HTTP routes, RPC methods, the OpenAPI document and authorization are made from the rows. What serves an
operation takes `(caller, ids, message)`, gives a message, raises errors of `errors.py`, and
knows nothing of the door.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from onair_api.auth.callers import Access, ByAccessToken, Caller
from onair_api.errors import Code
from onair_api.wire.list_page import MAX_PAGE_SIZE
from onair_crds.shapes import JsonObject, JsonSchema

S = TypeVar("S")
C = TypeVar("C")

Ids = Mapping[str, str]
"""Path parameters by their camelCase names."""

Example = JsonObject | list[JsonObject]
ResponseMessage = JsonObject | list[JsonObject] | bytes
"""A response message; as bytes where it is JSON already."""

EMPTY = "Empty"
"""Schema of a message without fields; as a request it is not read, so anything may be sent."""

_PARAMETER = re.compile(r"{(\w+)}")


AsgiMessage = MutableMapping[str, Any]


class AsgiApp(Protocol):
    """An ASGI application."""

    async def __call__(
        self,
        scope: AsgiMessage,
        receive: Callable[[], Awaitable[AsgiMessage]],
        send: Callable[[AsgiMessage], Awaitable[None]],
    ) -> None: ...


class ResponseKind(Enum):
    """How a door shows a response message."""

    MESSAGE = auto()
    """As it is."""
    IMAGE = auto()
    """`{format, image}`: over HTTP the bytes of `image`, or a record where JSON is asked for."""
    TOKEN = auto()
    """`{accessToken}`: over HTTP an empty object, and the token in a header."""
    LIST = auto()
    """`{items, nextPageToken?}`: over HTTP the bare array, and the token in a header."""
    REDIRECT = auto()
    """`{location}`: over HTTP a redirect there."""


@dataclass(frozen=True)
class Flag:
    """A boolean query parameter; a field of the request message of the same name."""

    name: str
    description: str
    default: bool = False


@dataclass(frozen=True)
class Filter:
    """A string query parameter; a field of the request message of the same name, absent where not given."""

    name: str
    schema: JsonSchema


PAGE = (
    Filter("pageSize", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}),
    Filter("pageToken", {"type": "string", "description": "nextPageToken of the page before."}),
)
"""Fields of the request message of every list; without them all is listed, up to `list_page`'s bounds."""


@dataclass(frozen=True)
class Http:
    """Where HTTP has an operation, and how it shows the response."""

    method: str
    path: str
    alternate_method: str | None = None
    """Served at the same path by another method as well."""
    alternate_path: str | None = None
    """Served at another path as well, which the OpenAPI document does not show."""
    response: ResponseKind = ResponseKind.MESSAGE

    @property
    def path_parameters(self) -> tuple[str, ...]:
        return tuple(_PARAMETER.findall(self.path))


@dataclass(frozen=True)
class Rpc:
    """Where RPC has an operation; the messages are in the `.proto` files of the chart."""

    service: str
    """With its package."""
    method: str = ""
    """Where it is not the operation's name."""
    body: str = ""
    """Field of the request that is the request message, besides the ids; empty if all other fields are."""
    items: str = ""
    """Field of the response that has the items of a LIST."""


@dataclass(frozen=True)
class Messages:
    """The request and the response message, by the names of their schemas."""

    request: str | None
    """None if it has no fields but those of `query`."""
    response: str
    query: tuple[Flag | Filter, ...] = ()
    """Fields of the request message that come in the query over HTTP."""
    example: Example | None = None
    """A request message that works as it stands."""
    response_example: Example | None = None

    @property
    def has_body(self) -> bool:
        """Whether the request message is read from a body over HTTP."""
        return self.request not in (None, EMPTY)


@dataclass(frozen=True)
class Docs:
    """Texts of the OpenAPI document; the rest of it follows from the row."""

    tag: str
    summary: str
    description: str


@dataclass(frozen=True)
class Errors:
    """The errors that an operation documents."""

    contended: bool = False
    """It changes what others may change at the same time, and gives up after many attempts."""
    more: tuple[Code, ...] = ()
    """Errors beyond those that follow from the rest."""
    only: tuple[Code, ...] | None = None
    """Its errors, where they do not follow from the rest."""


@dataclass(frozen=True, kw_only=True)
class Declaration(Generic[C]):
    """The part of a row that doors, authorization and the OpenAPI document are made from."""

    name: str
    """Name and operationId."""
    http: Http
    rpc: Rpc
    access: Access[C]
    """Which callers may use it, and what their requests count for."""
    messages: Messages
    docs: Docs
    errors: Errors = Errors()

    @property
    def rpc_path(self) -> str:
        """The path of its method, below the root of its service."""
        return f"/{self.rpc.service}/{self.rpc.method or self.name}"

    @property
    def error_codes(self) -> frozenset[Code]:
        """Codes of the errors that it documents.

        A caller that names ids may name none that exists; one that sends a message may send a wrong one.
        """
        if self.errors.only is not None:
            return frozenset(self.errors.only)
        takes_fields = self.messages.has_body or bool(self.messages.query)
        return frozenset(
            (
                *(Code.UNAUTHENTICATED, Code.RESOURCE_EXHAUSTED, Code.UNAVAILABLE),
                *((Code.PERMISSION_DENIED,) if isinstance(self.access, ByAccessToken) else ()),
                *((Code.INVALID_ARGUMENT,) if takes_fields else ()),
                *((Code.NOT_FOUND,) if self.http.path_parameters else ()),
                *((Code.ABORTED,) if self.errors.contended else ()),
                *self.errors.more,
            )
        )


@dataclass(frozen=True)
class ServiceMethod(Generic[S, C]):
    """A class of services, and the method that is given the caller, the ids and the request message."""

    owner: type[S]
    function: Callable[[S, C, Ids, JsonObject], Awaitable[ResponseMessage]]


@dataclass(frozen=True, kw_only=True)
class Operation(Declaration[C], Generic[S, C]):
    """One operation with what serves it."""

    service: ServiceMethod[S, C]


@dataclass(frozen=True, kw_only=True)
class StreamOperation(Declaration[Caller]):
    """An operation whose response does not end.

    ASGI applications serve it, each authenticating as `access` says.
    """

    http_app: type[AsgiApp]
    websocket_app: type[AsgiApp]
    """At the same path; the OpenAPI document does not show it."""


BODILESS = "onair.bodiless"
"""In the ASGI scope of a GET that was a HEAD: the client wants no body."""

AnyOperation = Operation[Any, Any]
