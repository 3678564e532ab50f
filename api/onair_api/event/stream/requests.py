"""What clients ask of a stream, and what they publish. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from onair_api.access.target import Target
from onair_api.errors import InvalidArgument, Violation
from onair_api.event.event import dumps
from onair_api.event.names import MAX_ALTERNATIVES, MAX_NAME, MAX_PATTERN
from onair_api.http.body import is_deeper_than
from onair_api.settings import EventSettings, LimitSettings
from onair_api.writes.request_note import request_metadata

MAX_ID = 253
MAX_TEXT = 1024

KINDS = ("subscribe", "unsubscribe", "publish", "ping")


@dataclass(frozen=True)
class Publication:
    name: str
    payload: dict[str, Any]
    metadata: dict[str, Any] | None
    target: Target


@dataclass(frozen=True)
class Asked:
    """One request of a stream's client; exactly one of the kinds."""

    correlation_id: str | None
    kind: str
    value: Any


class BadRequest(InvalidArgument):
    """A request that cannot be read, with the tag by which its sender knows it."""

    def __init__(self, correlation_id: str | None, *violations: Violation) -> None:
        super().__init__(*violations)
        self.correlation_id = correlation_id


def asked(text: str | bytes, limits: LimitSettings) -> Asked:
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
    if is_deeper_than(value, limits.json_depth):
        raise BadRequest(None, Violation("", f"the message is nested deeper than {limits.json_depth} levels"))
    tag = value.get("correlationId", value.get("correlation_id"))
    if tag is not None and (not isinstance(tag, str) or len(tag) > MAX_TEXT):
        raise BadRequest(
            None, Violation("correlationId", f"must be a string of at most {MAX_TEXT} characters")
        )
    kinds = [kind for kind in KINDS if value.get(kind) is not None]
    if len(kinds) != 1:
        raise BadRequest(tag, Violation("", f"exactly one of {', '.join(KINDS)} must be given"))
    return Asked(tag, kinds[0], value[kinds[0]])


def asked_by_query(query: Mapping[str, str]) -> list[Asked]:
    """What the query of a stream asks for; other parameters are ignored."""
    tag = query.get("correlationId")
    found: list[Asked] = []
    for kind in ("subscribe", "unsubscribe", "publish"):
        given = {name: value for name, value in query.items() if name.startswith(f"{kind}.")}
        if not given:
            continue
        prefix = f"{kind}.target."
        target = {
            name.removeprefix(prefix): value for name, value in given.items() if name.startswith(prefix)
        }
        body: dict[str, Any] = {"target": target}
        if f"{kind}.name" in given:
            body["name"] = given[f"{kind}.name"]
        if kind == "publish":
            body["payload"] = {}
        found.append(Asked(tag, kind, body))
    if "ping" in query:
        found.append(Asked(tag, "ping", query["ping"]))
    return found


def ping_of(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise InvalidArgument(Violation("ping", f"must be a string of at most {MAX_TEXT} characters"))
    return value


def subscription_of(value: Any, kind: str) -> tuple[str, Target]:
    """Name and target of a subscription.

    Raises:
        InvalidArgument: names every wrong field.
    """
    if not isinstance(value, dict):
        raise InvalidArgument(Violation(kind, "must be an object"))
    wrong: list[Violation] = []
    name = _name(value, f"{kind}.name", MAX_PATTERN, wrong)
    if name.count("|") >= MAX_ALTERNATIVES:
        wrong.append(Violation(f"{kind}.name", f"must have at most {MAX_ALTERNATIVES} alternatives"))
    target = _target(value, f"{kind}.target", wrong)
    if wrong:
        raise InvalidArgument(*wrong)
    return name, target


def publication_of(value: Any, settings: EventSettings, limits: LimitSettings, path: str = "") -> Publication:
    """An event to publish.

    Args:
        path: where the event stands in the request, with a dot behind it; empty for a body.

    Raises:
        InvalidArgument: names every wrong field.
    """
    if not isinstance(value, dict):
        raise InvalidArgument(Violation(path.rstrip("."), "must be an object"))
    wrong: list[Violation] = []
    name = _name(value, f"{path}name", MAX_NAME, wrong)
    if name.startswith(tuple(f"{settings.prefix}:{family}:EVENT_TYPE_" for family in ("live", "layout"))):
        wrong.append(Violation(f"{path}name", "must not be that of a resource's change"))
    target = _target(value, f"{path}target", wrong)
    payload = value.get("payload")
    if payload is None:
        wrong.append(Violation(f"{path}payload", "is required"))
    elif not isinstance(payload, dict):
        wrong.append(Violation(f"{path}payload", "must be an object"))
    elif len(dumps(payload)) > settings.payload_bytes:
        wrong.append(Violation(f"{path}payload", f"must be at most {settings.payload_bytes} bytes as JSON"))
    metadata = None
    try:
        metadata = request_metadata(value, limits.request_metadata_bytes)
    except InvalidArgument as error:
        wrong += [Violation(path + each.field, each.description) for each in error.violations]
    if wrong:
        raise InvalidArgument(*wrong)
    return Publication(name, payload or {}, metadata, target)


def _name(value: dict[str, Any], path: str, most: int, wrong: list[Violation]) -> str:
    name = value.get("name")
    if name is None or name == "":
        wrong.append(Violation(path, "is required"))
    elif not isinstance(name, str):
        wrong.append(Violation(path, "must be a string"))
    elif len(name) > most:
        wrong.append(Violation(path, f"must be at most {most} characters"))
    else:
        return name
    return ""


_IDS = {"collectionId": "collection_id", "projectId": "project_id", "layoutId": "layout_id"}


def _target(value: dict[str, Any], path: str, wrong: list[Violation]) -> Target:
    given = value.get("target")
    if given is None:
        return Target()
    if not isinstance(given, dict):
        wrong.append(Violation(path, "must be an object"))
        return Target()
    ids: dict[str, str] = {}
    for name, snake_name in _IDS.items():
        each = given.get(name, given.get(snake_name))
        if each is None or each == "":
            continue
        if not isinstance(each, str) or len(each) > MAX_ID:
            wrong.append(Violation(f"{path}.{name}", f"must be a string of at most {MAX_ID} characters"))
        else:
            ids[snake_name] = each
    return Target(**ids)
