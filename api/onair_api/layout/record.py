"""Layouts as HTTP and events show them. Pure."""

from __future__ import annotations

from onair_api.wire.encode import encode_message
from onair_api.wire.message import message_of
from onair_crds.kube.store import Entry
from onair_crds.resources.layout import LayoutSpec
from onair_crds.resources.rendering import Rendering
from onair_crds.shapes import JsonObject

LAYOUT_MESSAGE = message_of(LayoutSpec).only(
    "projectId", "collectionId", "type", "width", "height", "metadata", "transitions"
)


def layout_record(entry: Entry, project: Entry | None = None) -> JsonObject:
    """The layout for an event.

    Args:
        project: supplies size and collection where the layout does not name them (only manifests do that).
    """
    return {**layout_fields(entry, project), "requestMetadata": {}}


def layout_fields(entry: Entry, project: Entry | None = None) -> JsonObject:
    """The layout as reads show it, without its layers."""
    spec = entry.spec
    if project is not None and not {"collectionId", "width", "height"} <= spec.keys():
        spec = {"collectionId": project.spec.get("collectionId"), **canvas(project), **spec}
        return {"id": entry.name, **encode_message(LAYOUT_MESSAGE, spec)}
    record: JsonObject | None = entry.records.get("layout")
    if record is None:
        record = entry.records["layout"] = {"id": entry.name, **encode_message(LAYOUT_MESSAGE, spec)}
    return record


def canvas(project: Entry) -> dict[str, int]:
    """Width and height in pixels that the project renders at."""
    video = (project.spec.get("rendering") or {}).get("video") or {}
    default = Rendering().video
    return {
        "width": int(video.get("width") or default.width),
        "height": int(video.get("height") or default.height),
    }
