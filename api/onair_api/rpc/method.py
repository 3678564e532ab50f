"""One operation over RPC: who calls, the request message with its ids, the response."""

from __future__ import annotations

import functools
from collections.abc import Callable, MutableMapping
from typing import Any

import orjson
from google.protobuf.message import Message

from onair_api.auth.callers import Caller, Callers, CallHeaders, service_of
from onair_api.errors import InvalidArgument, Violation
from onair_api.operation import AnyOperation, Filter, Flag, ResponseKind
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.json_form import filled
from onair_api.rpc.list_bounds import UNBOUNDED, ListBounds, list_bounds
from onair_api.rpc.message_forms import Unparsed
from onair_api.settings import LimitSettings
from onair_api.wire.schema import Schemas
from onair_crds.shapes import JsonObject


class Method:
    """Serves one operation, as HTTP's endpoint does: in the same order, by the same service."""

    def __init__(
        self,
        operation: AnyOperation,
        service: object,
        callers: Callers,
        limits: LimitSettings,
        schemas: Schemas,
    ) -> None:
        """
        Args:
            schemas: of the messages.
        """
        rpc = operation.rpc
        self.service, self.name = rpc.service, rpc.method or operation.name
        self.operation, self.path = operation.name, operation.rpc_path
        self._callers, self.responses = callers, callers.responses
        self.reads = operation.http.method == "GET"
        self._caller = functools.partial(operation.access.caller, callers, operation.name)
        self._serve = functools.partial(operation.service.function, service)
        self._request, self._response = messages_of(self.service, self.name)
        self._ids = operation.http.path_parameters
        self._query = operation.messages.query
        self._body = rpc.body
        self._kind = operation.http.response
        self._items = rpc.items
        self._json_depth = limits.json_depth
        messages = operation.messages
        asked = list_bounds(str(messages.request), schemas) if messages.has_body else UNBOUNDED
        self.bounds = ListBounds(None, {self._body: asked}) if self._body else asked

    async def __call__(
        self,
        headers: CallHeaders,
        request: Unparsed,
        added: MutableMapping[str, str],
        known: Callable[[str], None] = lambda _: None,
    ) -> Message:
        """
        Args:
            added: gets headers of the response, of one that is an error as well.
            known: is called with the caller's service.

        Raises:
            Exception: whatever the service raises.
        """
        caller = await self._caller(headers)
        if isinstance(caller, Caller) and caller.renewed_token:
            added["authorization"] = f"Bearer {caller.renewed_token}"
        if service_id := service_of(caller):
            known(service_id)
            self._callers.begin(service_id)
        async with self._callers.in_order(caller):
            fields = await request.json(self._request, self._json_depth, self.bounds)
        ids, message = self._split(fields)
        response = self._shown(await self._serve(caller, ids, message), added)
        built = self._response()
        await filled(built, response)
        return built

    def _split(self, fields: JsonObject) -> tuple[dict[str, str], JsonObject]:
        """The ids, and the request message as services take it."""
        ids = {name: _id(fields.pop(name, None), name) for name in self._ids}
        if self._body:
            body = fields.get(self._body)
            if body is not None and not isinstance(body, dict):
                raise InvalidArgument(Violation(self._body, "must be an object"))
            fields = body or {}
        for each in self._query:
            value = fields.get(each.name)
            if isinstance(each, Flag):
                fields[each.name] = each.default if value is None else _flag(value, each.name)
            elif value is not None:
                _check_filter(value, each)
        return ids, fields

    def _shown(self, response: Any, added: MutableMapping[str, str]) -> JsonObject:
        """The fields of the response message; what HTTP shows otherwise has headers, or another name."""
        match self._kind:
            case ResponseKind.TOKEN:
                added["authorization"] = f"Bearer {response['accessToken']}"
                return {}
            case ResponseKind.REDIRECT:
                added["location"] = response["location"]
                added["cache-control"] = "no-store"
                return {}
            case ResponseKind.LIST:
                return {**response, self._items: response["items"]}
        return dict(orjson.loads(response) if isinstance(response, bytes) else response)


def _id(value: Any, name: str) -> str:
    if value in (None, ""):
        raise InvalidArgument(Violation(name, "is required"))
    if not isinstance(value, str):
        raise InvalidArgument(Violation(name, "must be a string"))
    return value


def _check_filter(value: Any, filter_: Filter) -> None:
    """Over HTTP each is a text; proto JSON may be anything."""
    wanted: type | tuple[type, ...] = (str, int) if filter_.schema.get("type") == "integer" else str
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InvalidArgument(Violation(filter_.name, f"must be of type {filter_.schema.get('type')}"))


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(Violation(name, "must be true or false"))
    return value
