"""Decodes requests for one layer into an operation on it, naming every wrong field. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from onair_api.errors import InvalidArgument, Violation
from onair_api.layout.layer.animation import Animated
from onair_api.layout.layer.tree import Create, Delete, LayerOperation, Update
from onair_api.settings import LimitSettings
from onair_api.wire.decode import Decoder, joined
from onair_api.wire.message import ABSENT, message_of
from onair_api.wire.model_violations import violations
from onair_api.writes import request_note
from onair_crds.contract.layers import Layer
from onair_crds.resources.layout import Layer as LayerModel
from onair_crds.shapes import JsonObject

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


class RoundingDecoder(Decoder):
    """Reads as every other, but takes fractions for integers: half a pixel is rounded up."""

    def _integer(self, value: Any, path: str) -> Any:
        number = self._number(value, path)
        return number if number is ABSENT else math.floor(number + 0.5)


@dataclass(frozen=True)
class LayerRequest:
    """One operation with what belongs only to the request."""

    operation: LayerOperation
    metadata: JsonObject | None = None
    animation: list[JsonObject] | None = None

    @property
    def key(self) -> str:
        """Its key in a batch item."""
        return KEYS[(Create, Update, Delete).index(type(self.operation))]


NewId = Callable[[], str]
Made = TypeVar("Made")


def create_request(body: JsonObject, new_id: NewId, limits: LimitSettings) -> LayerRequest:
    """Decodes the creation of a layer.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    made = create_layer(body, "", new_id(), limits, wrong)
    return checked(made, wrong)


def update_request(layer_id: str, body: JsonObject, limits: LimitSettings) -> LayerRequest:
    """Decodes the update of a layer.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong: list[Violation] = []
    made = update_layer(body, "", layer_id, limits, wrong)
    return checked(made, wrong)


def delete_request(layer_id: str, body: JsonObject, limits: LimitSettings) -> LayerRequest:
    """Decodes the deletion of a layer.

    Raises:
        InvalidArgument: its `requestMetadata` is wrong.
    """
    wrong: list[Violation] = []
    made = LayerRequest(Delete(layer_id), request_metadata(body, "", limits, wrong))
    return checked(made, wrong)


def checked(made: Made, wrong: list[Violation]) -> Made:
    """Gives what was made of a request.

    Raises:
        InvalidArgument: fields of the request are wrong.
    """
    if wrong:
        raise InvalidArgument(*wrong)
    return made


def create_layer(
    body: JsonObject, path: str, layer_id: str, limits: LimitSettings, wrong: list[Violation]
) -> LayerRequest:
    """Decodes the creation of a layer; adds its wrong fields to `wrong`."""
    values, _, animation = _values(body, path, {"id": layer_id}, limits, wrong)
    metadata = request_metadata(body, path, limits, wrong)
    return LayerRequest(Create(layer_id, values, path), metadata, animation)


def update_layer(
    body: JsonObject, path: str, layer_id: str, limits: LimitSettings, wrong: list[Violation]
) -> LayerRequest:
    """Decodes the update of a layer; adds its wrong fields to `wrong`."""
    values, cleared, animation = _values(body, path, {"id": "-", "type": "-"}, limits, wrong)
    metadata = request_metadata(body, path, limits, wrong)
    return LayerRequest(Update(layer_id, values, cleared, path), metadata, animation)


def _values(
    body: JsonObject, path: str, given_by_path: Layer, limits: LimitSettings, wrong: list[Violation]
) -> tuple[Layer, frozenset[str], list[JsonObject]]:
    """Values to set, fields to clear, animations.

    Args:
        given_by_path: required fields that the body need not have.
    """
    decoder = RoundingDecoder(limits.metadata_bytes)
    values = decoder.message(LAYER_MESSAGE, body)
    cleared = frozenset(name for name in NULLABLE if name in body and body[name] is None)
    for name in OBJECTS:
        if not isinstance(values.get(name, {}), dict):
            decoder.violations.append(Violation(name, "must be an object"))
    found = violations(LayerModel, {**given_by_path, **values}, decoder.violations)
    animating = RoundingDecoder(limits.metadata_bytes)
    animated = animating.message(ANIMATED_MESSAGE, body)
    found += violations(Animated, animated, animating.violations)
    wrong += [Violation(joined(path, each.field), each.description) for each in found]
    if found:
        return values, cleared, []
    animations = animated.get("requestAnimation", [])
    return values, cleared, [{"delayMs": 0, "easingMode": "linear", **each} for each in animations]


def request_metadata(
    body: JsonObject, path: str, limits: LimitSettings, wrong: list[Violation]
) -> JsonObject | None:
    """The same as of any request; what is wrong is added to the rest."""
    try:
        return request_note.request_metadata(body, limits.request_metadata_bytes)
    except InvalidArgument as error:
        wrong += [Violation(joined(path, each.field), each.description) for each in error.violations]
        return None
