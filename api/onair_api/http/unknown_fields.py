"""Fields of a request body that the interface does not know: they stay ignored, and are named in a header.

What is known is what the OpenAPI schemas of an operation's request and response have, so that a record may
be written back as it was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pydantic.alias_generators import to_snake

from onair_api.operation import Messages
from onair_api.wire.schema import Schemas
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import JsonObject, JsonSchema

MAX_NAMED = 10
MAX_NAME = 200
MAX_BYTES = 1_500
"""Of the header's value: some proxies take no more than 4 kB for all headers of a response."""
WARNING = 299
"""Miscellaneous persistent warning (RFC 7234, section 5.5), as the Kubernetes API uses it."""

MORE = f'{WARNING} - "and more unknown fields"'
SEPARATOR = ", "

Known = dict[str, "Known | None"]
"""Names in both spellings of proto JSON; None if anything may be below."""


def known_fields(messages: Messages, schemas: Schemas) -> Known:
    """The fields that a request may have, and those that its response has."""
    reader = _Reader(schemas)
    request = reader.known({"$ref": str(messages.request)}) or {}
    response = reader.known({"$ref": messages.response}) or {}
    for record in [each for each in response.values() if each]:  # `{destination: …}`: the record itself
        response = _joined(response, record)
    return _joined(request, response)


class _Reader:
    """Reads which fields schemas have."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._found: dict[str, Known | None] = {}

    def known(self, schema: JsonSchema) -> Known | None:
        if reference := schema.get("$ref"):
            name = str(reference).rpartition("/")[2]
            if name not in self._found:
                self._found[name] = None  # a schema that names itself is not read deeper
                self._found[name] = self.known(self._schemas[name])
            return self._found[name]
        if "items" in schema:
            return self.known(schema["items"])
        found: Known = {}
        for part in schema.get("allOf", ()):
            found = _joined(found, self.known(part) or {})
        for name, below in schema.get("properties", {}).items():
            found[name] = found[to_snake(name)] = self.known(below)
        return found or None


def _joined(one: Known, other: Known) -> Known:
    joined = {**other, **one}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        joined[name] = _joined(first, second) if first and second else first or second
    return joined


def unknown_fields(known: Known, body: JsonObject, path: str = "") -> Iterator[str | None]:
    """Paths of the fields that nobody reads, and None before each object of a list."""
    for name, value in body.items():
        place = f"{path}.{name}" if path else name
        if name not in known:
            yield place
            continue
        below = known[name]
        if below is None:
            continue
        if isinstance(value, dict):
            yield from unknown_fields(below, value, place)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield None
                    yield from unknown_fields(below, item, f"{place}[{index}]")


def warning_of(names: Iterable[str | None]) -> Steps[str | None]:
    """The value of the `Warning` header, None if all is known; a name may be anything."""
    texts: list[str] = []
    left = MAX_BYTES - len(MORE)
    for name in names:
        if name is None:
            yield
            continue
        text = f'{WARNING} - "unknown field {_quoted(name)} is ignored"'
        left -= len(text) + len(SEPARATOR)
        if len(texts) == MAX_NAMED or left < 0:
            texts.append(MORE)
            break
        texts.append(text)
    return SEPARATOR.join(texts) or None


def _quoted(name: str) -> str:
    printed = "".join(each if each < "\x7f" else "?" for each in name[:MAX_NAME])
    return json.dumps(printed)[1:-1]
