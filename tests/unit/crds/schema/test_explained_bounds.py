"""What `kubectl explain` says of the bounds of fields."""

from __future__ import annotations

import pytest

from onair_crds.resources.base import Resource
from onair_crds.resources.destination import Destination
from onair_crds.resources.kinds import KINDS
from onair_crds.resources.project import Project
from onair_crds.schema.definition_generator import custom_resource_definition
from onair_crds.shapes import JsonSchema


def spec_of(kind: type[Resource]) -> JsonSchema:
    document = custom_resource_definition(kind)
    spec: JsonSchema = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def field_of(kind: type[Resource], path: str) -> JsonSchema:
    node = spec_of(kind)
    for name in path.split("."):
        node = node["properties"][name]
    return node


@pytest.mark.parametrize(
    ("kind", "path", "sentence"),
    [
        (
            Project,
            "rendering.video.width",
            "Width of the canvas in pixels; even. 320 to 3840, default 1280.",
        ),
        (
            Project,
            "rendering.video.framerate",
            "Frames per second. 29.97 is 30000/1001. 1 to 60, default 30.",
        ),
        (Project, "location.latitude", "Degrees north. -90 to 90."),
        (Project, "maxDuration", "1 to 604800000, default 172800000."),
        (Project, "sources", "At most 100 items."),
        (Project, "broadcast.state", "Running puts the show on air, Stopped ends it. Default Stopped."),
        (Destination, "enabled", "Whether the programme is sent here. Default true."),
        (Destination, "timeout", "100 to 30000, default 5000."),
        (Destination, "address.rtmpPush.url", "At most 2048 characters."),
    ],
)
def test_a_description_ends_with_bounds_and_default(kind: type[Resource], path: str, sentence: str) -> None:
    assert field_of(kind, path)["description"].endswith(sentence)


def test_every_bounded_number_is_described_with_its_bounds() -> None:
    def walk(node: JsonSchema, path: str) -> None:
        if "minimum" in node or "maximum" in node:
            bounds = [f"{node[key]:.15g}" for key in ("minimum", "maximum") if key in node]
            assert all(bound in node.get("description", "") for bound in bounds), path
        for name, field in node.get("properties", {}).items():
            walk(field, f"{path}.{name}")
        if isinstance(node.get("items"), dict):
            walk(node["items"], f"{path}[]")

    for kind in KINDS:
        walk(spec_of(kind), kind.kind)
