"""Validates a resource by its model; violations are in terms of the interface. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.message import REFERENCE, Message, WireField, message_of
from onair_crds.resources.base import SpecModel
from onair_crds.shapes import JsonObject, JsonSchema

BOUNDS = ("greater_than_equal", "less_than_equal", "multiple_of")


def check(model: type[SpecModel], spec: JsonObject, found: Iterable[Violation] = ()) -> None:
    """Validates a whole spec.

    Args:
        found: what decoding the request found already; it comes first, and
            where it is about a field, or one inside, the model's own finding is dropped.

    Raises:
        InvalidArgument: names every wrong field.
    """
    if wrong := violations(model, spec, found):
        raise InvalidArgument(*wrong)


def violations(model: type[SpecModel], spec: JsonObject, found: Iterable[Violation] = ()) -> list[Violation]:
    """Everything that `check` would name."""
    wrong = {v.field: v for v in found}
    known = {place for name in wrong for place in _places(name)}
    try:
        model.model_validate(spec)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=True, include_input=False):
            violation = _violation(detail, _node(message_of(model), detail["loc"]))
            if violation.field not in known:
                wrong[violation.field] = violation
                known.update(_places(violation.field))
    return list(wrong.values())


def _places(path: str) -> Iterator[str]:
    """A path, and those of the objects that it is in."""
    yield path
    while "." in path:
        path = path.rpartition(".")[0]
        yield path


def _node(message: Message | None, place: tuple[int | str, ...]) -> JsonSchema:
    """The schema of the field at a place of the model; empty where HTTP has no such field."""
    field: WireField | None = None
    for part in place:
        if isinstance(part, int):
            field = field.item if field else None
        else:
            field = message.fields.get(part) if message else None
        message = field.message if field else None
    return field.node if field else {}


def _violation(detail: ErrorDetails, node: JsonSchema) -> Violation:
    path = ""
    for part in detail["loc"]:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += ("." if path else "") + part.removesuffix(REFERENCE)
    return Violation(path, sentence(detail, node))


def sentence(detail: ErrorDetails, node: JsonSchema) -> str:
    """Says what is wrong and what would be right; never the value, which may be a secret.

    Args:
        node: the field's schema, which has all bounds; the detail has the one that is exceeded.
    """
    context = detail.get("ctx", {})
    if detail["type"] in BOUNDS and {"minimum", "maximum"} <= node.keys():
        rules = [rule["message"] for rule in node.get("x-kubernetes-validations", ())]
        even = " and even" if "must be even" in rules else ""
        return f"must be from {_shown(node['minimum'])} to {_shown(node['maximum'])}{even}"
    match detail["type"]:
        case "missing":
            return "is required"
        case "greater_than_equal":
            return f"must be at least {_shown(context['ge'])}"
        case "less_than_equal":
            return f"must be at most {_shown(context['le'])}"
        case "multiple_of":
            return (
                "must be even"
                if context["multiple_of"] == 2
                else f"must be a multiple of {context['multiple_of']}"
            )
        case "string_too_long":
            return f"must be at most {context['max_length']} characters"
        case "string_too_short":
            return "must not be empty"
        case "too_long":
            return f"must have at most {context['max_length']} items"
        case _:
            text = re.sub(r"^Value error, ", "", detail["msg"])
            return text[:1].lower() + text[1:]


def _shown(bound: float) -> str:
    return f"{bound:g}" if isinstance(bound, float) and abs(bound) < 100_000 else str(bound)
