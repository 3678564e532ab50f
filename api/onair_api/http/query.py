"""Query parameters."""

from __future__ import annotations

from typing import TypeVar

from starlette.requests import Request

from onair_api.errors import InvalidArgument, Violation
from onair_crds.resources.enums import WireEnum

_FLAGS = {"true": True, "1": True, "false": False, "0": False, "": True}


def flag(request: Request, name: str, *, default: bool = False) -> bool:
    """A boolean parameter; given without a value it is true. The last one counts.

    Raises:
        InvalidArgument: it is neither true nor false.
    """
    if not request.scope["query_string"]:
        return default
    value = request.query_params.get(name)
    if value is None:
        return default
    if value.lower() not in _FLAGS:
        raise InvalidArgument(Violation(name, "must be true or false"))
    return _FLAGS[value.lower()]


Choice = TypeVar("Choice", bound=WireEnum)


def choice(request: Request, name: str, enum: type[Choice]) -> Choice | None:
    """A value of an enumeration; None where there is none, or the zero value.

    Raises:
        InvalidArgument: it names no value of the enumeration.
    """
    value = request.query_params.get(name)
    if not value:
        return None
    try:
        return enum.from_wire(value)
    except ValueError as error:
        raise InvalidArgument(Violation(name, str(error))) from None
