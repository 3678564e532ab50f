"""Updates of projects over HTTP: what a mask names, and many at the same time."""

from __future__ import annotations

import concurrent.futures
from functools import partial
from typing import Any

import pytest
from tests.support.facade import StoredResources, User
from tests.support.projects import EVERYTHING
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


def test_an_update_changes_what_the_mask_names(anna: User) -> None:
    show = anna.project(**EVERYTHING)
    before = show.get()["project"]
    response = show.patch(
        updateMask="rendering.video.framerate, MaxDuration",
        rendering={"video": {"framerate": 60, "width": 640}},
        maxDuration="7000",
    )
    before["rendering"]["video"]["framerate"] = 60
    before["maxDuration"] = 7000
    assert response == {"project": before, "broadcastUpdated": False}
    assert show.get()["project"] == before


def test_a_named_field_that_is_absent_gets_its_default(anna: User) -> None:
    show = anna.project(**EVERYTHING)
    response = show.patch(
        updateMask="rendering,webrtc,location.latitude,location.longitude,location,composition"
    )
    project = response["project"]
    assert project["rendering"]["video"]["width"] == 1280
    assert project["composition"] == {"scene": {"debug": False}}
    assert "webrtc" not in project
    assert "location" not in project
    assert project["encoding"] == {**EVERYTHING["encoding"]}


def test_a_mask_into_another_member_selects_it(anna: User) -> None:
    show = anna.project(composition={"external": {"url": "https://a.example/"}})
    response = show.patch(
        updateMask="composition.scene.debug",
        composition={"scene": {"debug": True}, "external": {"url": "https://b.example/"}},
    )
    assert response["project"]["composition"] == {"scene": {"debug": True}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"updateMask": "nothing"}, "updateMask"),
        ({"updateMask": "metadata.x"}, "updateMask"),
        ({"updateMask": "projectId", "projectId": "x"}, "updateMask"),
        ({"updateMask": ["metadata"]}, "updateMask"),
        ({"updateMask": "composition.external.url"}, "composition.external.url"),
        ({"updateMask": "composition.external"}, "composition"),
        ({"updateMask": "location.latitude"}, "location.latitude"),
        ({"updateMask": "maxDuration", "maxDuration": 0}, "maxDuration"),
        ({"rendering": {"video": {"width": 641}}}, "rendering.video.width"),
        ({"rendering": {"video": "wide"}}, "rendering.video"),
        ({"composition": {"external": {"url": "http://a b/"}}}, "composition.external.url"),
    ],
)
def test_a_wrong_update_changes_nothing(anna: User, body: JsonObject, field: str) -> None:
    show = anna.project(
        composition={"external": {"url": "https://a.example/"}}, location={"latitude": 1, "longitude": 2}
    )
    before = show.get()
    response = anna.call("PATCH", show.path, body)
    assert (response.status_code, response.json()["code"]) == (400, 3)
    assert [v["field"] for v in response.json()["details"][0]["fieldViolations"]] == [field]
    assert show.get() == before


def test_fields_that_http_does_not_show_survive_an_update(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    run = show.start()
    show.patch(rendering={"quality": "RENDERING_QUALITY_HIGH"})
    spec = resources.get("projects", show.id)["spec"]
    assert spec["broadcast"] == {"state": "Running", "id": run}


PATCHES: list[JsonObject] = [
    {"metadata": {"by": "metadata"}},
    {"rendering": {"video": {"width": 640}}},
    {"rendering": {"video": {"height": 360}}},
    {"rendering": {"video": {"framerate": 25}}},
    {"rendering": {"quality": "RENDERING_QUALITY_HIGH"}},
    {"rendering": {"targetLatency": 123}},
    {"rendering": {"complexity": 3}},
    {"encoding": {"video": {"profile": "VIDEO_CODEC_PROFILE_MAIN"}}},
    {"encoding": {"video": {"rateControl": {"targetBitrate": 999_000}}}},
    {"encoding": {"video": {"rateControl": {"maxKeyFrameInterval": 77}}}},
    {"maxDuration": 123_456},
    {"webrtc": {"hosted": {"enabled": False}}},
    {"location": {"latitude": 1.5}},
    {"location": {"longitude": 2.5}},
    {"composition": {"external": {"url": "https://concurrent.example/"}}},
    {"composition": {"external": {"url": "https://concurrent.example/"}}},
]
"""Each has a mask of its own; the last is there twice, so that they are an even number."""


def test_a_hundred_concurrent_updates_with_disjoint_masks_all_survive(
    anna: User, second_facade: Any, resources: StoredResources
) -> None:
    """Of one object: fields of a project, and start and stop of the triggers of 42 sources."""
    show = anna.project(location={"latitude": 0, "longitude": 0})
    names = [f"s{number}" for number in range(42)]
    resources.patch("projects", show.id, {"spec": {"sources": [{"sourceId": name} for name in names]}})
    users = [anna, User(second_facade, anna.token)]

    def may_patch(user: User, path: str) -> bool:
        return user.call("PATCH", path, {}).is_success

    for user in users:
        path = f"{show.path}/source/{names[-1]}"
        wait_for(partial(may_patch, user, path), "the sources are seen")
    calls = [(show.path, patch) for patch in PATCHES] + [
        (f"{show.path}/source/{name}", {"trigger": {edge: "SOURCE_TRIGGER_ACTION_OR"}})
        for name in names
        for edge in ("start", "stop")
    ]
    assert len(calls) == 100
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        responses = list(pool.map(lambda pair: users[pair[0] % 2].call("PATCH", *pair[1]), enumerate(calls)))
    assert [a.status_code for a in responses] == [200] * 100, [a.text for a in responses if a.is_error]
    sources = resources.get("projects", show.id)["spec"]["sources"]
    assert sources == [{"sourceId": name, "trigger": {"start": "Or", "stop": "Or"}} for name in names]
    spec = resources.get("projects", show.id)["spec"]
    assert spec["metadata"] == {"by": "metadata"}
    assert spec["rendering"]["video"] | {"colorSpace": ""} == {
        "width": 640,
        "height": 360,
        "framerate": 25,
        "colorSpace": "",
    }
    assert (spec["rendering"]["quality"], spec["rendering"]["complexity"]) == ("High", 3)
    assert spec["rendering"]["targetLatency"] == 123
    assert spec["encoding"]["video"] == {
        "codec": "H264",
        "profile": "Main",
        "rateControl": {"mode": "CBR", "targetBitrate": 999_000, "maxKeyFrameInterval": 77},
    }
    assert spec["maxDuration"] == 123_456
    assert spec["webrtc"] == {"hosted": {"enabled": False}}
    assert spec["location"] == {"latitude": 1.5, "longitude": 2.5}
    assert spec["composition"] == {"external": {"url": "https://concurrent.example/"}}


def test_own_writes_are_read_at_once(anna: User) -> None:
    show = anna.project()
    for number in range(30):
        assert show.patch(metadata=number)["project"]["metadata"] == number
        assert show.get()["project"]["metadata"] == number
