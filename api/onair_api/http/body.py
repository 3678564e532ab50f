"""Request bodies: JSON objects of a bounded size and depth, whatever their content type says."""

from __future__ import annotations

import orjson
from starlette.requests import ClientDisconnect, Request

from onair_api.errors import InvalidArgument, Violation
from onair_api.settings import LimitSettings
from onair_api.wire.depth import is_deeper_than
from onair_crds.shapes import JsonObject


async def read_object(request: Request, limits: LimitSettings) -> JsonObject:
    """The body; an absent one is an empty object.

    Raises:
        InvalidArgument: it is too large, no JSON, nested too deeply, or no object.
    """
    raw = await _read(request, limits.body_bytes)
    if not raw.strip():
        return {}
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InvalidArgument(
            Violation("", f"the body is not valid JSON ({error.msg[:100]}, {place})")
        ) from None
    if not isinstance(value, dict):
        raise InvalidArgument(Violation("", "the body must be a JSON object"))
    if raw.count(b"{") + raw.count(b"[") > limits.json_depth and is_deeper_than(value, limits.json_depth):
        raise InvalidArgument(Violation("", f"the body is nested deeper than {limits.json_depth} levels"))
    return value


async def _read(request: Request, limit: int) -> bytes:
    too_large = InvalidArgument(Violation("", f"the body is larger than {limit} bytes"))
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 19 and int(declared) > limit:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise too_large
            parts.append(part)
    except ClientDisconnect:
        raise InvalidArgument(Violation("", "the body is incomplete")) from None
    return b"".join(parts)
