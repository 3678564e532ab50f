"""Projects over HTTP, against a real API server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.projects import EVERYTHING
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

EMPTY: JsonObject = {"sources": [], "destinations": [], "triggers": [], "guestCodes": []}


def test_every_field_comes_back_as_it_was_sent(anna: User) -> None:
    show = anna.project(**EVERYTHING)
    expected = {**EVERYTHING, **EMPTY, "collectionId": show.collection, "projectId": show.id}
    expected["rendering"] = {
        **EVERYTHING["rendering"],
        "video": {**EVERYTHING["rendering"]["video"], "width": 1920},
    }
    assert show.get() == {"project": expected}
    listed = anna.ok("GET", f"/collection/{show.collection}")["collection"]["projects"]
    assert listed == [expected]


def test_what_is_left_out_gets_its_default(anna: User) -> None:
    project = anna.project().get()["project"]
    assert project["rendering"] == {
        "video": {
            "height": 720,
            "width": 1280,
            "framerate": 30,
            "colorSpace": "VIDEO_COLOR_SPACE_YUV420",
        },
        "audio": {"channelLayout": "AUDIO_CHANNEL_LAYOUT_STEREO"},
        "quality": "RENDERING_QUALITY_STANDARD",
        "targetLatency": 500,
        "complexity": 0,
    }
    assert project["encoding"]["video"] == {
        "codec": "VIDEO_CODEC_H264",
        "profile": "VIDEO_CODEC_PROFILE_HIGH",
        "rateControl": {
            "mode": "VIDEO_CODEC_RATE_CONTROL_MODE_CBR",
            "targetBitrate": "3145728",
            "maxKeyFrameInterval": 30,
        },
    }
    assert project["composition"] == {"scene": {"debug": False}}
    assert project["maxDuration"] == 172_800_000
    assert project["metadata"] == {}
    assert "webrtc" not in project
    assert "location" not in project


@pytest.mark.parametrize(
    ("body", "composition"),
    [
        ({"composition": {"studioSdk": {}}}, {"studioSdk": {"version": "latest"}}),
        ({"composition": {"scene": {}}}, {"scene": {"debug": False}}),
        (
            {"composition": {"scene": {"debug": True}, "external": None}},
            {"scene": {"debug": True}},
        ),
    ],
)
def test_each_kind_of_composition(anna: User, body: JsonObject, composition: JsonObject) -> None:
    assert anna.project(**body).get()["project"]["composition"] == composition


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            {
                "composition": {"external": {"url": "ftp://x"}},
                "rendering": {"video": {"width": 1281, "height": 100}},
                "maxDuration": "x",
            },
            {
                "composition.external.url",
                "rendering.video.width",
                "rendering.video.height",
                "maxDuration",
            },
        ),
        ({"composition": {}}, {"composition"}),
        (
            {"composition": {"scene": {}, "external": {"url": "https://a.example"}}},
            {"composition"},
        ),
        ({"composition": {"external": {"url": "http://"}}}, {"composition.external.url"}),
        (
            {"composition": {"external": {"url": "http://169.254.169.254"}}},
            {"composition.external.url"},
        ),
        ({"composition": {"external": {"url": "http://a b.example/"}}}, {"composition.external.url"}),
        ({"location": {"latitude": 91}}, {"location.latitude", "location.longitude"}),
        (
            {"encoding": {"video": {"rateControl": {"targetBitrate": 1, "maxKeyFrameInterval": 0}}}},
            {
                "encoding.video.rateControl.targetBitrate",
                "encoding.video.rateControl.maxKeyFrameInterval",
            },
        ),
        (
            {"rendering": {"video": {"framerate": 0.5}, "complexity": 5}},
            {"rendering.video.framerate", "rendering.complexity"},
        ),
        ({"maxDuration": 604_800_001}, {"maxDuration"}),
        ({"maxDuration": 10**25}, {"maxDuration"}),
        ({"metadata": "x" * 262_145}, {"metadata"}),
        ({"requestMetadata": {"a": "x" * 16_384}}, {"requestMetadata"}),
        ({"requestMetadata": "text"}, {"requestMetadata"}),
    ],
)
def test_a_wrong_project_is_refused_and_every_field_named(
    anna: User, body: JsonObject, fields: set[str]
) -> None:
    collection = anna.collection()
    response = anna.call("POST", f"/collection/{collection}/project", body)
    assert response.status_code == 400
    error = response.json()
    assert error["code"] == 3
    (detail,) = error["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert {v["field"] for v in detail["fieldViolations"]} == fields
    assert all(v["description"] and v["field"] in error["message"] for v in detail["fieldViolations"])
    assert anna.ok("GET", f"/collection/{collection}")["collection"]["projects"] == []


def test_metadata_of_the_largest_size_is_kept_and_watched(
    anna: User, second_facade: Any, sign_in: Callable[..., User]
) -> None:
    show = anna.project(metadata="x" * (262_144 - 2))
    other = User(second_facade, anna.token)
    assert len(other.ok("GET", show.path)["project"]["metadata"]) == 262_142
    # Later events of the same watch still arrive: a long line did not end it.
    show.patch(metadata=1)
    wait_for(lambda: other.ok("GET", show.path)["project"]["metadata"] == 1, "the change is seen")


def test_another_replica_knows_a_new_project_at_once(anna: User, second_facade: Any) -> None:
    for _ in range(10):
        show = anna.project()
        assert User(second_facade, anna.token).ok("GET", show.path)["project"]["projectId"] == show.id


def test_a_project_belongs_to_its_collection_alone(anna: User, sign_in: Callable[..., User]) -> None:
    show, ben = anna.project(), sign_in()
    elsewhere = f"/collection/{anna.collection()}/project/{show.id}"
    mine = f"/collection/{ben.collection()}/project/{show.id}"
    for user, path in ((anna, elsewhere), (ben, show.path), (ben, mine)):
        for method, tail in (
            ("GET", ""),
            ("PATCH", ""),
            ("DELETE", "?force=true"),
            ("POST", "/broadcast/start"),
            ("POST", "/broadcast/stop"),
            ("GET", "/broadcast/status"),
            ("POST", "/destination"),
        ):
            response = user.call(method, path + tail)
            assert (response.status_code, response.json()["code"]) == (404, 5), (method, path, tail)
    assert show.get()["project"]["projectId"] == show.id


def test_a_deletion_counts_its_layouts(anna: User, facade: FacadeThread, resources: StoredResources) -> None:
    show = anna.project()
    destination = show.destination()["destinationId"]
    for number in range(2):
        resources.apply("Layout", "layouts", f"lay-{show.id}-{number}", {"projectId": show.id})
    wait_for(lambda: len(facade.view.children("Layout", show.id)) == 2, "the layouts are seen")
    assert anna.ok("DELETE", show.path) == {"broadcastStopped": False, "layoutsDeleted": 2}
    assert not resources.exists("projects", show.id)
    assert not resources.exists("destinations", destination)
    assert not resources.exists("layouts", f"lay-{show.id}-0")
    assert anna.call("GET", show.path).status_code == 404


def test_a_live_project_stays_until_the_operator_has_ended_it(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    destination = show.destination()["destinationId"]
    run = show.start()
    resources.set_broadcast(show.id, {"id": run, "phase": "Running", "start": "2026-01-01T00:00:00Z"})
    resources.patch("projects", show.id, {"metadata": {"finalizers": ["onair.dev/broadcast"]}})
    response = anna.call("DELETE", show.path)
    assert (response.status_code, response.json()["code"]) == (400, 9)
    assert anna.ok("DELETE", show.path + "?force=true") == {"broadcastStopped": True, "layoutsDeleted": 0}
    assert anna.call("GET", show.path).status_code == 404
    assert resources.get("projects", show.id)["metadata"]["deletionTimestamp"]
    assert resources.exists("destinations", destination), "its streams are ended first"
    resources.patch("projects", show.id, {"metadata": {"finalizers": None}})


def test_children_carry_their_owner(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    destination = show.destination()["destinationId"]
    project = resources.get("projects", show.id)
    (owner,) = project["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Collection", show.collection)
    (owner,) = resources.get("destinations", destination)["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Project", project["metadata"]["uid"])


def test_sources_and_triggers_of_a_project_are_shown(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    name = f"src-{show.id}"
    resources.apply(
        "Source",
        "sources",
        name,
        {"collectionId": show.collection, "address": {"rtmpPull": {"url": "rtmp://cam.example/live/1"}}},
    )
    resources.patch(
        "projects", show.id, {"spec": {"sources": [{"sourceId": name, "trigger": {"start": "Or"}}]}}
    )
    project = wait_for(lambda: (p := show.get()["project"])["sources"] and p, "the source is seen")
    assert project["sources"][0]["address"] == {"rtmpPull": {"url": "rtmp://cam.example/live/1"}}
    assert project["triggers"] == [
        {
            "source": {
                "sourceId": name,
                "start": "SOURCE_TRIGGER_ACTION_OR",
                "stop": "SOURCE_TRIGGER_ACTION_IGNORE",
            }
        }
    ]
