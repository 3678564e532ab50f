"""Answers name the studio's page in force, and what they named is not stored when it comes back."""

from __future__ import annotations

import pytest
from tests.support.masks import LargeMask

from onair_api.errors import InvalidArgument
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.live.project.studio_renderer import (
    as_studio_sdk,
    with_renderer_url,
    without_derived_url,
)
from onair_api.wire.spec import updated_spec
from onair_crds.resources.composition import Composition
from onair_crds.resources.project import ProjectSpec
from onair_crds.shapes import JsonObject

BASE = "https://studio.example/renderer/"


def studio(**fields: str) -> JsonObject:
    return {"composition": {"studioSdk": fields}}


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({}, "https://studio.example/renderer/latest/"),
        ({"version": "3.0.49"}, "https://studio.example/renderer/3.0.49/"),
        ({"version": "a/b"}, "https://studio.example/renderer/a%2Fb/"),
        ({"version": "3", "rendererUrl": "https://a.example/"}, "https://a.example/"),
    ],
)
def test_the_page_in_force_is_named_and_is_the_one_that_is_opened(fields: dict[str, str], url: str) -> None:
    record = with_renderer_url(studio(**fields), BASE)
    assert record["composition"]["studioSdk"] == {**fields, "rendererUrl": url}
    assert Composition.model_validate({"studioSdk": fields}).url("https://scenes.example/", BASE) == url


def test_without_a_place_of_versions_the_page_of_scenes_is_in_their_place() -> None:
    assert with_renderer_url(studio(version="3"), "") == studio(version="3")
    composition = Composition.model_validate({"studioSdk": {"version": "3"}})
    assert composition.url("https://scenes.example/", "") == "https://scenes.example/"


@pytest.mark.parametrize("composition", [{"scene": {}}, {"external": {"url": "https://a.example"}}])
def test_other_compositions_are_as_they_are(composition: JsonObject) -> None:
    assert with_renderer_url({"composition": composition}, BASE) == {"composition": composition}


@pytest.mark.parametrize(
    ("sent", "before", "stored"),
    [
        (studio(version="3", rendererUrl=f"{BASE}3/"), {}, studio(version="3")),
        (studio(version="4", rendererUrl=f"{BASE}3/"), studio(version="3"), studio(version="4")),
        (
            studio(version="4", rendererUrl=f"{BASE}3/"),
            studio(version="2"),
            studio(version="4", rendererUrl=f"{BASE}3/"),
        ),
        (studio(rendererUrl="https://a.example/"), {}, studio(rendererUrl="https://a.example/")),
        (
            studio(version="3", rendererUrl=f"{BASE}3/"),
            studio(version="3", rendererUrl=f"{BASE}3/"),
            studio(version="3", rendererUrl=f"{BASE}3/"),
        ),
        ({"composition": {"scene": {}}}, studio(version="3"), {"composition": {"scene": {}}}),
        ({}, {}, {}),
    ],
)
def test_what_an_answer_named_is_not_stored(sent: JsonObject, before: JsonObject, stored: JsonObject) -> None:
    assert without_derived_url(sent, before, BASE) == stored


@pytest.mark.parametrize(
    ("message", "read"),
    [
        (
            {"composition": {"studioRenderer": {"version": "3", "activeSceneId": "s"}}},
            {"composition": {"studioSdk": {"version": "3", "activeSceneId": "s"}}},
        ),
        ({"composition": {"studio_renderer": {}}}, {"composition": {"studioSdk": {}}}),
        (
            {"updateMask": "a, composition.studioRenderer.version"},
            {"updateMask": "a,composition.studioSdk.version"},
        ),
        (
            {"update_mask": "composition.studio_renderer.renderer_url"},
            {"update_mask": "composition.studioSdk.renderer_url"},
        ),
        (
            {
                "updateMask": "composition.studioRenderer.activeSceneId",
                "composition": {"studioRenderer": {"activeSceneId": "s"}},
                "requestMetadata": {"why": 1},
            },
            {"requestMetadata": {"why": 1}},
        ),
        ({"updateMask": "composition.studioRenderer.activeSceneId,", "maxDuration": 5}, {}),
        ({"updateMask": "metadata, maxDuration"}, {"updateMask": "metadata, maxDuration"}),
        ({"updateMask": 3, "composition": None}, {"updateMask": 3, "composition": None}),
    ],
)
def test_the_key_of_newer_clients_is_treated_alike(message: JsonObject, read: JsonObject) -> None:
    assert as_studio_sdk(message) == read


def test_a_mask_of_very_many_names_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        as_studio_sdk({"updateMask": LargeMask("composition.studioRenderer," * 38_000)})


def test_two_pages_stay_two_pages() -> None:
    both: JsonObject = {"composition": {"studioSdk": {}, "studioRenderer": {}}}
    assert as_studio_sdk(both) == both


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"composition": {"studioRenderer": {"activeSceneId": "s"}}}, {"version": "3", "rendererUrl": BASE}),
        ({"composition": {"studioRenderer": {}}}, {"version": "3", "rendererUrl": BASE}),
        (
            {"composition": {"studioRenderer": {"rendererUrl": "https://a.example/"}}},
            {"version": "3", "rendererUrl": "https://a.example/"},
        ),
        (
            {
                "updateMask": "composition.studioRenderer.activeSceneId,metadata",
                "composition": {"studioRenderer": {"activeSceneId": "s"}},
            },
            {"version": "3", "rendererUrl": BASE},
        ),
        (
            {
                "updateMask": "composition.studioRenderer",
                "composition": {"studioRenderer": {"version": "4", "activeSceneId": "s"}},
            },
            {"version": "4"},
        ),
    ],
)
def test_an_update_keeps_what_it_does_not_name(sent: JsonObject, kept: JsonObject) -> None:
    """Without a mask those fields are named that the body has; of a scene of the page's own there is none."""
    stored = {"collectionId": "sunday", **studio(version="3", rendererUrl=BASE)}
    spec = updated_spec(ProjectSpec, PROJECT_MESSAGE, stored, as_studio_sdk(sent), 1000)
    assert spec["composition"] == {"studioSdk": kept}
