"""Which changes of a project reach what is on air."""

from __future__ import annotations

import pytest

from onair_api.live.project.programme import same_programme
from onair_crds.shapes import Document


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"metadata": 1}, True),
        ({"location": {"latitude": 1, "longitude": 2}}, True),
        ({"rendering": {"complexity": 4, "targetLatency": 700}}, True),
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
