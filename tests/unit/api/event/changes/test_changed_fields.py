"""Which fields a change of a resource names."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from onair_api.event.changes.changed_fields import changed_paths
from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_crds.shapes import JsonObject


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ({}, {}, []),
        ({"maxDuration": 1}, {"maxDuration": 2}, ["maxDuration"]),
        ({}, {"rendering": {"video": {"width": 640}}}, ["rendering.video.width"]),
        (
            {"composition": {"scene": {}}},
            {"composition": {"external": {"url": "u"}}},
            ["composition.external.url"],
        ),
        ({"broadcast": {"state": "Running"}}, {}, []),
    ],
)
def test_each_field_that_differs_is_named(before: JsonObject, after: JsonObject, paths: list[str]) -> None:
    assert changed_paths(PROJECT_MESSAGE, before, after) == paths


@pytest.mark.parametrize(("old", "new"), [(0, False), (False, 0), (1, True), ([{"on": 1}], [{"on": True}])])
def test_a_number_that_becomes_a_boolean_is_a_change(old: Any, new: Any) -> None:
    before, after = {"metadata": {"on": old}}, {"metadata": {"on": new}}
    assert changed_paths(COLLECTION_MESSAGE, before, after) == ["metadata"]
    assert changed_paths(COLLECTION_MESSAGE, before, copy.deepcopy(before)) == []


def test_a_secret_is_named_by_its_reference() -> None:
    before, after = (
        {"address": {"rtmpPush": {"url": "rtmp://a", "keySecretRef": {"name": name, "key": "key"}}}}
        for name in "ab"
    )
    assert changed_paths(DESTINATION_MESSAGE, before, after) == ["address.rtmpPush.key"]
