"""A resource's spec as a create or an update request asks for it: decoded, merged, validated by the model."""

from __future__ import annotations

from onair_api.wire.decode import Decoder
from onair_api.wire.message import Message
from onair_api.wire.model_violations import check
from onair_crds.resources.base import SpecModel
from onair_crds.shapes import JsonObject


def created_spec(
    model: type[SpecModel], fields: Message, request: JsonObject, metadata_bytes: int, **assigned: object
) -> JsonObject:
    """The spec of a new resource.

    Args:
        fields: those that a request may set.
        assigned: fields of the spec that no request sets.

    Raises:
        InvalidArgument: names every wrong field.
    """
    decoder = Decoder(metadata_bytes)
    spec = {**assigned, **decoder.message(fields, request)}
    check(model, spec, decoder.violations)
    return spec


def updated_spec(
    model: type[SpecModel], fields: Message, stored: JsonObject, request: JsonObject, metadata_bytes: int
) -> JsonObject:
    """A copy of a stored spec with the fields that `updateMask` names, or else those that the request has.

    Raises:
        InvalidArgument: names every wrong field.
    """
    decoder = Decoder(metadata_bytes)
    spec = decoder.merged(fields, stored, request)
    check(model, spec, decoder.violations)
    return spec
