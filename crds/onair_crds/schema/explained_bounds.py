"""Adds bounds and defaults to the descriptions of fields, as `kubectl explain` shows neither."""

from __future__ import annotations

from onair_crds.shapes import JsonSchema

_SIZES = {"string": ("maxLength", "characters"), "array": ("maxItems", "items")}


def with_explained_bounds(schema: JsonSchema) -> JsonSchema:
    """The schema with each described field's bounds and default as its description's last sentence."""
    explained = dict(schema)
    facts = ", ".join(_facts(schema))
    if facts and "description" in schema:
        explained["description"] = f"{schema['description']} {facts[0].upper()}{facts[1:]}."
    if "properties" in schema:
        explained["properties"] = {
            name: with_explained_bounds(field) for name, field in schema["properties"].items()
        }
    if isinstance(schema.get("items"), dict):
        explained["items"] = with_explained_bounds(schema["items"])
    return explained


def _facts(schema: JsonSchema) -> list[str]:
    facts = []
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        facts.append(f"{_number(least)} to {_number(most)}")
    elif least is not None:
        facts.append(f"at least {_number(least)}")
    elif most is not None:
        facts.append(f"at most {_number(most)}")
    size, unit = _SIZES.get(schema.get("type", ""), ("", ""))
    if size in schema:
        facts.append(f"at most {schema[size]} {unit}")
    default = schema.get("default")
    if isinstance(default, str | int | float):
        facts.append(f"default {_number(default) if not isinstance(default, str) else default}")
    return facts


def _number(value: float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.15g}"
