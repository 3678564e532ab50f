"""From request bodies to operations on layers, every wrong field named. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from onair_api.errors import InvalidArgument, Violation
from onair_api.layout.animation import Animated
from onair_api.layout.tree import Create, Delete, Layer, Operation, Update
from onair_api.settings import LimitSettings
from onair_api.wire.message import message_of
from onair_api.wire.reading import ABSENT, Reading, joined
from onair_api.wire.validation import violations
from onair_crds.enums import RequestAnimationMode
from onair_crds.layout import Layer as LayerModel

LAYER_MESSAGE = message_of(LayerModel).only(
    "type",
    "data",
    "x",
    "y",
    "width",
    "height",
    "rotation",
    "opacity",
    "scale",
    "hidden",
    "children",
    "parentId",
    "metadata",
)
ANIMATED_MESSAGE = message_of(Animated)

NULLABLE = ("x", "y", "width", "height")
"""Fields in which null is a value: no absolute position, dynamic size."""

OBJECTS = ("data", "metadata")

KEYS = ("create", "update", "delete")
MAX_BATCH = 1000
MAX_UPDATES = 16
"""Items of one batch that may update one layer; the answer has the whole layer for each of them."""
_INDEX = re.compile(r"index:([0-9]{1,4})")


class RoundingReading(Reading):
    """Reads as every other, but takes fractions for integers: half a pixel is rounded up."""

    def _integer(self, value: Any, path: str) -> Any:
        number = self._number(value, path)
        return number if number is ABSENT else math.floor(number + 0.5)


@dataclass(frozen=True)
class LayerRequest:
    """One operation with what belongs to the request alone."""

    operation: Operation
    metadata: dict[str, Any] | None = None
    animation: list[dict[str, Any]] | None = None

    @property
    def key(self) -> str:
        """Its key in a batch item."""
        return KEYS[(Create, Update, Delete).index(type(self.operation))]


@dataclass(frozen=True)
class BatchRequest:
    layers: list[LayerRequest]
    metadata: dict[str, Any] | None = None
    mode: RequestAnimationMode = RequestAnimationMode.PARALLEL


NewId = Callable[[], str]
Made = TypeVar("Made")


def create_request(body: dict[str, Any], new_id: NewId, limits: LimitSettings) -> LayerRequest:
    """
    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    made = _create(body, "", new_id(), limits, wrong)
    return _checked(made, wrong)


def update_request(layer_id: str, body: dict[str, Any], limits: LimitSettings) -> LayerRequest:
    """
    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    made = _update(body, "", layer_id, limits, wrong)
    return _checked(made, wrong)


def delete_request(layer_id: str, body: dict[str, Any], limits: LimitSettings) -> LayerRequest:
    """
    Raises:
        InvalidArgument: its `requestMetadata` is wrong.
    """
    wrong: list[Violation] = []
    made = LayerRequest(Delete(layer_id), _request_metadata(body, "", limits, wrong))
    return _checked(made, wrong)


def batch_request(body: dict[str, Any], new_id: NewId, limits: LimitSettings) -> BatchRequest:
    """
    Raises:
        InvalidArgument: names every wrong field of every item.
    """
    items = body.get("layers")
    if items is None:
        items = []
    if not isinstance(items, list):
        raise InvalidArgument(Violation("layers", "must be an array"))
    if len(items) > MAX_BATCH:
        raise InvalidArgument(Violation("layers", f"must have at most {MAX_BATCH} items"))
    wrong: list[Violation] = []
    created: dict[int, str] = {}
    updates: Counter[str] = Counter()
    requests: list[LayerRequest] = []
    for position, item in enumerate(items):
        path = f"layers[{position}]"
        made = _item(item, path, new_id, limits, wrong)
        if made is None:
            continue
        requests.append(_resolved(made, created, wrong))
        updates[made.operation.id] += isinstance(made.operation, Update)
        if updates[made.operation.id] == MAX_UPDATES + 1:
            wrong.append(Violation(f"{path}.update.id", f"must not be updated more than {MAX_UPDATES} times"))
        if isinstance(made.operation, Create):
            created[position] = made.operation.id
    metadata = _request_metadata(body, "", limits, wrong)
    mode = _mode(body, wrong)
    return _checked(BatchRequest(requests, metadata, mode), wrong)


def _checked(made: Made, wrong: list[Violation]) -> Made:
    if wrong:
        raise InvalidArgument(*wrong)
    return made


def _item(
    item: Any, path: str, new_id: NewId, limits: LimitSettings, wrong: list[Violation]
) -> LayerRequest | None:
    keys = [key for key in KEYS if isinstance(item, dict) and item.get(key) is not None]
    if len(keys) != 1:
        wrong.append(Violation(path, "exactly one of create, update, delete must be given"))
        return None
    (key,) = keys
    path, body = f"{path}.{key}", item[key]
    if not isinstance(body, dict):
        wrong.append(Violation(path, "must be an object"))
        return None
    if key == "create":
        return _create(body, path, new_id(), limits, wrong)
    layer_id = body.get("id")
    if not isinstance(layer_id, str) or not layer_id:
        wrong.append(Violation(f"{path}.id", "is required" if not layer_id else "must be a string"))
        return None
    if key == "update":
        return _update(body, path, layer_id, limits, wrong)
    return LayerRequest(Delete(layer_id, path), _request_metadata(body, path, limits, wrong))


def _create(
    body: dict[str, Any], path: str, layer_id: str, limits: LimitSettings, wrong: list[Violation]
) -> LayerRequest:
    values, _, animation = _values(body, path, {"id": layer_id}, limits, wrong)
    metadata = _request_metadata(body, path, limits, wrong)
    return LayerRequest(Create(layer_id, values, path), metadata, animation)


def _update(
    body: dict[str, Any], path: str, layer_id: str, limits: LimitSettings, wrong: list[Violation]
) -> LayerRequest:
    values, cleared, animation = _values(body, path, {"id": "-", "type": "-"}, limits, wrong)
    metadata = _request_metadata(body, path, limits, wrong)
    return LayerRequest(Update(layer_id, values, cleared, path), metadata, animation)


def _values(
    body: dict[str, Any], path: str, given_by_path: Layer, limits: LimitSettings, wrong: list[Violation]
) -> tuple[Layer, frozenset[str], list[dict[str, Any]]]:
    """Values to set, fields to clear, animations.

    Args:
        given_by_path: required fields that the body need not have.
    """
    reading = RoundingReading(limits.metadata_bytes)
    values = reading.message(LAYER_MESSAGE, body)
    cleared = frozenset(name for name in NULLABLE if name in body and body[name] is None)
    for name in OBJECTS:
        if not isinstance(values.get(name, {}), dict):
            reading.violations.append(Violation(name, "must be an object"))
    found = violations(LayerModel, {**given_by_path, **values}, reading.violations)
    animating = RoundingReading(limits.metadata_bytes)
    animated = animating.message(ANIMATED_MESSAGE, body)
    found += violations(Animated, animated, animating.violations)
    wrong += [Violation(joined(path, each.field), each.description) for each in found]
    if found:
        return values, cleared, []
    animations = animated.get("requestAnimation", [])
    return values, cleared, [{"delayMs": 0, "easingMode": "linear", **each} for each in animations]


def _resolved(request: LayerRequest, created: dict[int, str], wrong: list[Violation]) -> LayerRequest:
    """The same with the ids of the layers that `index:N` names."""
    operation = request.operation
    if isinstance(operation, Delete):
        return request

    def resolve(name: Any, path: str) -> Any:
        match = _INDEX.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            return name  # what is no string was found wrong already
        if (position := int(match[1])) not in created:
            wrong.append(
                Violation(joined(operation.path, path), "must name a layer created earlier in the batch")
            )
        return created.get(position, name)

    values = operation.values
    if "children" in values:
        children = [resolve(name, f"children[{i}]") for i, name in enumerate(values["children"])]
        values = {**values, "children": children}
    if "parentId" in values:
        values = {**values, "parentId": resolve(values["parentId"], "parentId")}
    if isinstance(operation, Create):
        operation = Create(operation.id, values, operation.path)
    else:
        operation = Update(operation.id, values, operation.cleared, operation.path)
    return LayerRequest(operation, request.metadata, request.animation)


def _request_metadata(
    body: dict[str, Any], path: str, limits: LimitSettings, wrong: list[Violation]
) -> dict[str, Any] | None:
    value = body.get("requestMetadata")
    if value is None:
        return None
    place = joined(path, "requestMetadata")
    if not isinstance(value, dict):
        wrong.append(Violation(place, "must be an object"))
        return None
    if len(orjson.dumps(value)) > limits.request_metadata_bytes:
        wrong.append(Violation(place, f"must be at most {limits.request_metadata_bytes} bytes as JSON"))
    return value


def _mode(body: dict[str, Any], wrong: list[Violation]) -> RequestAnimationMode:
    value = body.get("requestAnimationMode")
    if value is None or value == "":
        return RequestAnimationMode.PARALLEL
    try:
        return RequestAnimationMode.from_wire(value) or RequestAnimationMode.PARALLEL
    except ValueError as error:
        wrong.append(Violation("requestAnimationMode", str(error)))
        return RequestAnimationMode.PARALLEL
