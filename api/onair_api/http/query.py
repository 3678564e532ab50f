"""Query parameters: fields of the request message that come in the url."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import QueryParams

from onair_api.errors import InvalidArgument, Violation
from onair_api.operation import Filter, Flag
from onair_crds.shapes import JsonObject

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False, "": True}


def query_fields(parameters: Sequence[Flag | Filter], query_string: bytes) -> JsonObject:
    """The fields that a query gives; of a parameter that comes twice the last counts.

    A flag without a value is true, one that is not given has its default; a filter that is not given is
    absent. Other parameters are ignored.

    Raises:
        InvalidArgument: a flag is neither true nor false.
    """
    given = QueryParams(query_string) if query_string else {}
    fields: JsonObject = {}
    for each in parameters:
        value = given.get(each.name)
        if isinstance(each, Flag):
            fields[each.name] = each.default if value is None else _boolean(each.name, value)
        elif value is not None:
            fields[each.name] = value
    return fields


def _boolean(name: str, value: str) -> bool:
    if value.lower() not in _BOOLEANS:
        raise InvalidArgument(Violation(name, "must be true or false"))
    return _BOOLEANS[value.lower()]
