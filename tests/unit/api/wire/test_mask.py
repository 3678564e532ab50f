"""updateMask: which fields it names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.support.bodies import PATIENT, bodies
from tests.support.masks import LargeMask

from onair_api.errors import InvalidArgument
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.wire.mask import MAX_PATHS, dotted, leaf_paths, mask_paths, names_of, resolve
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


def test_a_mask_names_so_many_fields_and_no_more() -> None:
    names = ["metadata"] * MAX_PATHS
    assert names_of(",".join(names)) == names_of(",".join(names) + ",") == names
    for mask in (",".join([*names, "metadata"]), LargeMask("a," * 500_000)):
        with pytest.raises(InvalidArgument, match=f"updateMask: must name at most {MAX_PATHS} fields"):
            mask_paths(PROJECT_MESSAGE, {"updateMask": mask})


def test_a_name_of_very_many_parts_names_no_field() -> None:
    assert resolve(PROJECT_MESSAGE, LargeMask("metadata." * 100_000)) is None


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
