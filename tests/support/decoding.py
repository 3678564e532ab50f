"""Requests decoded as the facade decodes them."""

from __future__ import annotations

from typing import Any

from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.wire.decode import Decoder
from onair_api.wire.message import Message
from onair_crds.shapes import JsonObject


def decoded(body: JsonObject, message: Message = PROJECT_MESSAGE) -> tuple[JsonObject, list[tuple[str, str]]]:
    """The spec of a request, and the violations: field and description."""
    decoder = Decoder(1000)
    spec: Any = decoder.message(message, body)
    return spec, [(each.field, each.description) for each in decoder.violations]
