"""Which changes of a project reach what is on air."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import pytest
from tests.support.worlds import SETTINGS, on_air, pod, project, world

from onair_api.live.project.programme import same_programme
from onair_crds.resources.base import SpecModel
from onair_crds.resources.encoding import Encoding
from onair_crds.resources.rendering import Rendering
from onair_crds.shapes import Document
from onair_operator.encoder.program_push import digest
from onair_operator.project.program import wanted_program

OTHER_NUMBERS = {
    "height": 1080,
    "width": 1920,
    "framerate": 60,
    "targetLatency": 700,
    "complexity": 1,
    "targetBitrate": 4_000_000,
    "maxKeyFrameInterval": 60,
}
"""By field, a value other than its default."""


def fields(model: SpecModel) -> Iterator[Document]:
    """For each field, however deep, a document that gives only it, with another value than its default.

    A field of one possible value has none.
    """
    for name, info in type(model).model_fields.items():
        value, alias = getattr(model, name), str(info.alias)
        if isinstance(value, SpecModel):
            yield from ({alias: inner} for inner in fields(value))
        elif isinstance(value, Enum):
            yield from ({alias: each.value} for each in type(value) if each is not value)
        else:
            yield {alias: OTHER_NUMBERS[alias]}


def programme(spec: Document) -> str:
    """The digest of what the operator hands to an encoder."""
    show = project(status={"broadcast": on_air()}, **spec)
    assert show.status.broadcast
    return digest(wanted_program(world(show, pods=[pod()]), show.status.broadcast, SETTINGS))


@pytest.mark.parametrize(
    "spec",
    [{"rendering": each} for each in fields(Rendering())]
    + [{"encoding": each} for each in fields(Encoding())],
    ids=str,
)
def test_each_field_of_rendering_and_encoding_counts_where_the_encoder_gets_it(spec: Document) -> None:
    reaches = programme(spec) != programme({})
    assert same_programme({"collectionId": "c"}, {"collectionId": "c", **spec}) is not reaches


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"metadata": 1}, True),
        ({"location": {"latitude": 1, "longitude": 2}}, True),
        ({"rendering": {"complexity": 4}}, True),
        ({"rendering": {"targetLatency": 500}}, True),
        ({"rendering": {"targetLatency": 700}}, False),
        ({"rendering": {"video": {"width": 1280}}}, True),
        ({"rendering": {"video": {"width": 640}}}, False),
        ({"encoding": {"video": {"rateControl": {"targetBitrate": 3_145_728}}}}, True),
        ({"encoding": {"video": {"rateControl": {"targetBitrate": 3_145_729}}}}, False),
        ({"composition": {"scene": {}}}, True),
        ({"composition": {"scene": {"debug": True}}}, False),
        ({"maxDuration": 172_800_000}, True),
        ({"maxDuration": 1}, False),
        ({"composition": {"ofANewerVersion": {}}}, False),
    ],
)
def test_a_change_counts_where_the_encoder_gets_something_else(change: Document, same: bool) -> None:
    assert same_programme({"collectionId": "c"}, {"collectionId": "c", **change}) is same
