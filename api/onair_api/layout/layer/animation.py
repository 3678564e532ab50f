"""Animations: how a layer moves to its new state. They belong to one request and are never stored."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from onair_crds.resources.base import SpecModel
from onair_crds.resources.layout import DurationMs

PROPERTIES = ("x", "y", "width", "height", "opacity", "scale", "rotation", "*")

_NUMBER = r"[+-]?(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})"
_PERCENT = rf"{_NUMBER}%"
_STOP = rf"{_NUMBER}(?:\s+{_PERCENT}){{0,2}}"
_EASING = re.compile(
    r"linear|ease|ease-in|ease-out|ease-in-out|step-start|step-end"
    rf"|cubic-bezier\(\s*{_NUMBER}(?:\s*,\s*{_NUMBER}){{3}}\s*\)"
    r"|steps\(\s*[1-9][0-9]{0,3}\s*(?:,\s*(?:jump-start|jump-end|jump-none|jump-both|start|end)\s*)?\)"
    rf"|linear\(\s*{_STOP}(?:\s*,\s*{_STOP}){{1,63}}\s*\)"
)
"""CSS easing functions, https://www.w3.org/TR/css-easing-2/."""


def _property(value: str) -> str:
    if value not in PROPERTIES:
        raise ValueError("must be one of " + ", ".join(PROPERTIES))
    return value


def _easing(value: str) -> str:
    if not _EASING.fullmatch(value.strip().lower()):
        raise ValueError(
            "must be a CSS easing function, such as linear, ease-in-out or cubic-bezier(0, 0, 1, 1)"
        )
    return value


class Animation(SpecModel):
    """How properties of a layer move to their new values."""

    properties: Annotated[
        list[Annotated[str, Field(max_length=16), AfterValidator(_property)]],
        Field(min_length=1, max_length=16),
    ]
    """What moves: x, y, width, height, opacity, scale, rotation, or * for all of them."""
    duration_ms: DurationMs
    """Length in milliseconds."""
    delay_ms: DurationMs = 0
    """Milliseconds before it begins."""
    easing_mode: Annotated[str, Field(max_length=1024), AfterValidator(_easing)] = "linear"
    """CSS easing function."""


class Animated(SpecModel):
    """The part of a layer's request that is no part of the layer."""

    request_animation: Annotated[list[Animation], Field(max_length=64)] = []
    """From the present state to the new one; the last animation with a matching property wins."""
