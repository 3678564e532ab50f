"""How long the lists of a request may be, as the schemas of its message say. Pure.

Services refuse what is longer, over either door. A list that is too long is cut to one more than it may have:
that is refused with the same words, and the rest, which may be half a million messages, costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from onair_api.wire.schema import Schemas
from onair_crds.shapes import JsonSchema


class ListBounds(NamedTuple):
    """The bounds of one field and of those below it."""

    most: int | None
    """Items that it may have; None where it is no list, or has no bound."""
    below: Mapping[str, ListBounds]

    def of(self, name: str) -> ListBounds:
        """Returns the bounds of a field below."""
        return self.below.get(name, UNBOUNDED)

    def cut(self, items: Any) -> Any:
        """Cuts a list that is too long."""
        return items if self.most is None or len(items) <= self.most else items[: self.most + 1]


UNBOUNDED = ListBounds(None, {})


def list_bounds(message: str, schemas: Schemas) -> ListBounds:
    """The bounds of a request message.

    Args:
        message: the name of its schema.
    """
    return _BoundsReader(schemas).bounds(schemas[message])


class _BoundsReader:
    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._found: dict[str, ListBounds] = {}

    def bounds(self, schema: JsonSchema) -> ListBounds:
        if reference := schema.get("$ref"):
            name = str(reference).rpartition("/")[2]
            if name not in self._found:
                self._found[name] = UNBOUNDED  # a schema that names itself is not read deeper
                self._found[name] = self.bounds(self._schemas[name])
            return self._found[name]
        below: dict[str, ListBounds] = {}
        for part in (*schema.get("allOf", ()), *([schema["items"]] if "items" in schema else ())):
            below |= self.bounds(part).below
        for name, property_ in schema.get("properties", {}).items():
            if (found := self.bounds(property_)) != UNBOUNDED:
                below[name] = found
        return ListBounds(schema.get("maxItems"), below)
