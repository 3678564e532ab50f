"""updateMask: which fields it names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.support.bodies import PATIENT, bodies

from onair_api.errors import InvalidArgument
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.wire.mask import dotted, leaf_paths, mask_paths, resolve
from onair_crds.shapes import Document


@pytest.mark.parametrize(
    ("mask", "path"),
    [
        ("maxDuration", "maxDuration"),
        ("max_duration", "maxDuration"),
        ("MAX_DURATION", "maxDuration"),
        ("maxduration", "maxDuration"),
        ("rendering.video.colorSpace", "rendering.video.colorSpace"),
        ("rendering.video.color_space", "rendering.video.colorSpace"),
        (
            "encoding.video.rate_control.max_key_frame_interval",
            "encoding.video.rateControl.maxKeyFrameInterval",
        ),
        ("composition.studioSdk.rendererUrl", "composition.studioSdk.rendererUrl"),
    ],
)
def test_a_path_is_found_in_every_spelling(mask: str, path: str) -> None:
    found = resolve(PROJECT_MESSAGE, mask)
    assert found is not None
    assert dotted(found) == path


@pytest.mark.parametrize(
    "mask",
    [
        "nothing",
        "rendering.nothing",
        "metadata.title",
        "collectionId",
        "projectId",
        "broadcast",
        "sources",
        "destinations",
        "rendering..video",
        ".rendering",
        "rendering.",
        "*",
        "maxDuration.x",
        "composition.scene.url",
    ],
)
def test_a_path_that_names_no_field_is_an_error(mask: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        mask_paths(PROJECT_MESSAGE, {"updateMask": mask})
    assert [v.field for v in caught.value.violations] == ["updateMask"]


def test_spaces_and_empty_parts_in_a_mask_do_not_matter() -> None:
    paths, named = mask_paths(PROJECT_MESSAGE, {"updateMask": " maxDuration , metadata,, "})
    assert named
    assert [dotted(p) for p in paths] == ["maxDuration", "metadata"]


@pytest.mark.parametrize("mask", [5, ["metadata"], {"paths": ["metadata"]}, True])
def test_a_mask_that_is_no_string_is_an_error(mask: Any) -> None:
    with pytest.raises(InvalidArgument):
        mask_paths(PROJECT_MESSAGE, {"updateMask": mask})


@PATIENT
@given(body=bodies(PROJECT_MESSAGE))
def test_leaf_paths_are_present_in_the_body(body: Document) -> None:
    for path in leaf_paths(PROJECT_MESSAGE, body):
        value: Any = body
        for field in path:
            value = value[field.name]
        assert value is not None
