"""Decodes the fields that subscriptions and publications share: name and target. Pure."""

from __future__ import annotations

from onair_api.access.target import Target
from onair_api.errors import Violation
from onair_crds.shapes import JsonObject

MAX_ID = 253
_IDS = {"collectionId": "collection_id", "projectId": "project_id", "layoutId": "layout_id"}


def decode_name(value: JsonObject, path: str, max_length: int, violations: list[Violation]) -> str:
    """Returns the name of an event or a subscription.

    Args:
        path: of the name in the request, for error texts.
        violations: is added to where the name is wrong; the result is empty then.
    """
    name = value.get("name")
    if name is None or name == "":
        violations.append(Violation(path, "is required"))
    elif not isinstance(name, str):
        violations.append(Violation(path, "must be a string"))
    elif len(name) > max_length:
        violations.append(Violation(path, f"must be at most {max_length} characters"))
    else:
        return name
    return ""


def decode_target(value: JsonObject, path: str, violations: list[Violation]) -> Target:
    """The ids that the client gave, in either spelling; `path` and `violations` as for `decode_name`."""
    given = value.get("target")
    if given is None:
        return Target()
    if not isinstance(given, dict):
        violations.append(Violation(path, "must be an object"))
        return Target()
    ids: dict[str, str] = {}
    for name, snake_name in _IDS.items():
        each = given.get(name, given.get(snake_name))
        if each is None or each == "":
            continue
        if not isinstance(each, str) or len(each) > MAX_ID:
            violations.append(Violation(f"{path}.{name}", f"must be a string of at most {MAX_ID} characters"))
        else:
            ids[snake_name] = each
    return Target(**ids)
