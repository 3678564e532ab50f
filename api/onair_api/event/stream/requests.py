"""Decodes the requests of a stream's client, in messages and in the query. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from onair_api.access.target import Target
from onair_api.errors import InvalidArgument, Violation
from onair_api.event.names import MAX_ALTERNATIVES, MAX_PATTERN
from onair_api.event.request_fields import decode_name, decode_target
from onair_api.settings import LimitSettings
from onair_api.wire.depth import is_deeper_than
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject

MAX_TEXT = 1024

KINDS = ("subscribe", "unsubscribe", "publish", "ping")


@dataclass(frozen=True)
class StreamRequest:
    """One request of a client on its stream."""

    correlation_id: str | None
    kind: str
    """One of `KINDS`."""
    value: Any


class BadRequest(InvalidArgument):
    """A request that cannot be decoded, with the correlation id by which its sender knows it."""

    def __init__(self, correlation_id: str | None, *violations: Violation) -> None:
        super().__init__(*violations)
        self.correlation_id = correlation_id


def decode_request(text: str | bytes, limits: LimitSettings) -> StreamRequest:
    """One message of a client.

    Raises:
        BadRequest: it is no JSON object with exactly one kind of request.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadRequest(None, Violation("", "the message is not valid JSON")) from None
    if not isinstance(value, dict):
        raise BadRequest(None, Violation("", "the message must be a JSON object"))
    return request_of(value, limits)


def request_of(value: JsonObject, limits: LimitSettings) -> StreamRequest:
    """The same of a message that is decoded already.

    Raises:
        BadRequest: it is not exactly one kind of request, or nested too deeply.
    """
    if at_once(is_deeper_than(value, limits.json_depth)):
        raise BadRequest(None, Violation("", f"the message is nested deeper than {limits.json_depth} levels"))
    correlation_id = value.get("correlationId", value.get("correlation_id"))
    if correlation_id is not None and (not isinstance(correlation_id, str) or len(correlation_id) > MAX_TEXT):
        raise BadRequest(
            None, Violation("correlationId", f"must be a string of at most {MAX_TEXT} characters")
        )
    kinds = [kind for kind in KINDS if value.get(kind) is not None]
    if len(kinds) != 1:
        raise BadRequest(correlation_id, Violation("", f"exactly one of {', '.join(KINDS)} must be given"))
    return StreamRequest(correlation_id, kinds[0], value[kinds[0]])


def requests_of_query(query: Mapping[str, str]) -> list[StreamRequest]:
    """The requests in the query of a stream; other parameters are ignored."""
    correlation_id = query.get("correlationId")
    found: list[StreamRequest] = []
    for kind in ("subscribe", "unsubscribe", "publish"):
        given = {name: value for name, value in query.items() if name.startswith(f"{kind}.")}
        if not given:
            continue
        prefix = f"{kind}.target."
        target = {
            name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)
        }
        body: JsonObject = {"target": target}
        if f"{kind}.name" in given:
            body["name"] = given[f"{kind}.name"]
        if kind == "publish":
            body["payload"] = {}
        found.append(StreamRequest(correlation_id, kind, body))
    if "ping" in query:
        found.append(StreamRequest(correlation_id, "ping", query["ping"]))
    return found


def decode_ping(value: Any) -> str:
    """Decodes the text of a ping.

    Raises:
        InvalidArgument: it is no string, or too long.
    """
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise InvalidArgument(Violation("ping", f"must be a string of at most {MAX_TEXT} characters"))
    return value


def decode_subscription(value: Any, kind: str) -> tuple[str, Target]:
    """Name and target of a subscription.

    Args:
        kind: `subscribe` or `unsubscribe`, for error texts.

    Raises:
        InvalidArgument: names every wrong field.
    """
    if not isinstance(value, dict):
        raise InvalidArgument(Violation(kind, "must be an object"))
    violations: list[Violation] = []
    name = decode_name(value, f"{kind}.name", MAX_PATTERN, violations)
    if name.count("|") >= MAX_ALTERNATIVES:
        violations.append(Violation(f"{kind}.name", f"must have at most {MAX_ALTERNATIVES} alternatives"))
    target = decode_target(value, f"{kind}.target", violations)
    if violations:
        raise InvalidArgument(*violations)
    return name, target
