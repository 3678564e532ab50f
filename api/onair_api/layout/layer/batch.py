"""Decodes batches into operations on layers, naming every wrong field with its position. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from onair_api.errors import MAX_VIOLATIONS, InvalidArgument, Violation
from onair_api.layout.layer.request import (
    KEYS,
    LayerRequest,
    NewId,
    checked,
    create_layer,
    request_metadata,
    update_layer,
)
from onair_api.layout.layer.tree import Create, Delete, Update
from onair_api.settings import LimitSettings
from onair_api.wire.decode import joined
from onair_crds.resources.enums import RequestAnimationMode
from onair_crds.runtime.steps import Steps
from onair_crds.shapes import JsonObject

MAX_BATCH = 1000
MAX_UPDATES = 16
"""Items of one batch that may update one layer; the response has the whole layer for each of them."""
_INDEX = re.compile(r"index:([0-9]{1,4})")


@dataclass(frozen=True)
class BatchRequest:
    layers: list[LayerRequest]
    metadata: JsonObject | None = None
    mode: RequestAnimationMode = RequestAnimationMode.PARALLEL


def batch_request(body: JsonObject, new_id: NewId, limits: LimitSettings) -> Steps[BatchRequest]:
    """Decodes a batch of changes of layers, item by item.

    Raises:
        InvalidArgument: names every wrong field of every item, up to what an error names.
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
        yield
        if len(wrong) > MAX_VIOLATIONS:
            break
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
    metadata = request_metadata(body, "", limits, wrong)
    mode = _mode(body, wrong)
    return checked(BatchRequest(requests, metadata, mode), wrong)


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
        return create_layer(body, path, new_id(), limits, wrong)
    layer_id = body.get("id")
    if not isinstance(layer_id, str) or not layer_id:
        wrong.append(Violation(f"{path}.id", "is required" if not layer_id else "must be a string"))
        return None
    if key == "update":
        return update_layer(body, path, layer_id, limits, wrong)
    return LayerRequest(Delete(layer_id, path), request_metadata(body, path, limits, wrong))


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


def _mode(body: JsonObject, wrong: list[Violation]) -> RequestAnimationMode:
    value = body.get("requestAnimationMode", body.get("request_animation_mode"))
    if value is None or value == "":
        return RequestAnimationMode.PARALLEL
    try:
        return RequestAnimationMode.from_wire(value) or RequestAnimationMode.PARALLEL
    except ValueError as error:
        wrong.append(Violation("requestAnimationMode", str(error)))
        return RequestAnimationMode.PARALLEL
