"""Quotas of runs: what facade and operator count alike, and how they name a quota that is used up."""

from __future__ import annotations

from typing import Final

from pydantic.alias_generators import to_camel

from onair_crds.shapes import JsonObject

BROADCASTS: Final = "broadcasts"
PIXELS: Final = "pixels_per_second"
SERVICE: Final = "service"
USER: Final = "user"
SCOPES = {SERVICE: "perService", USER: "perUser"}


def quota_text(scope: str, name: str, limit: int, present: int) -> str:
    """Says that a quota is used up: its name among the chart's values, its limit, and what there is.

    Args:
        scope: `SERVICE` or `USER`.
        name: what is counted, such as `BROADCASTS`.
    """
    return f"the quota api.quotas.{SCOPES[scope]}.{to_camel(name)} is {limit}, of which {present} are in use"


def pixels_per_s(spec: JsonObject) -> int:
    """Pixels that the broadcast of a project encodes in a second.

    Args:
        spec: of the project, as it is stored.
    """
    video = (spec.get("rendering") or {}).get("video") or {}
    width, height = int(video.get("width", 1280)), int(video.get("height", 720))
    return round(width * height * float(video.get("framerate", 30)))
