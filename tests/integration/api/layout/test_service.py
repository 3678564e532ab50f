"""Layouts over HTTP."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.layouts import PLAIN, ROOT, layout, scene
from tests.support.tokens import assert_error, violations_of
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


def test_a_layout_has_its_defaults(show: Show) -> None:
    made = layout(show)
    assert made.record == {
        "id": made.id,
        "projectId": show.id,
        "collectionId": show.collection,
        "type": "LAYOUT_TYPE_SCENELESS",
        "width": 1280,
        "height": 720,
        "metadata": {},
        "transitions": [],
    }
    assert made.get() == made.record
    assert made.layers() == []


def test_the_id_of_a_layout_is_a_uuid(show: Show) -> None:
    """Not shown for the layout itself; an event's target has `layoutId` (string, uuid)."""
    made = layout(show)
    assert str(uuid.UUID(made.id)) == made.id


def test_the_canvas_of_the_project_is_the_size_of_its_layouts(anna: User) -> None:
    show = anna.project(rendering={"video": {"width": 640, "height": 360}})
    made = layout(show)
    assert (made.record["width"], made.record["height"]) == (640, 360)
    show.patch(updateMask="rendering.video", rendering={"video": {"width": 1920, "height": 1080}})
    assert made.get() == made.record, "positions on it keep their meaning"


def test_a_scene_begins_with_its_root(show: Show) -> None:
    made = scene(show, collectionId=show.collection)
    (root,) = made.layers()
    assert root == {**PLAIN, "id": root["id"], "layoutId": made.id, "type": "root"}


TRANSITIONS = [
    {"fromLayoutIds": ["a", "b"], "cut": {}},
    {"fromLayoutIds": [], "crossfade": {"durationMs": 500}},
    {"fromLayoutIds": [], "fadeToColor": {"durationMs": 1000, "backgroundColor": "#000"}},
    {
        "fromLayoutIds": ["c"],
        "swipe": {
            "durationMs": 300,
            "direction": "TRANSITION_DIRECTION_UP",
            "combinedAnimation": "TRANSITION_SWIPE_TYPE_DESTINATION",
        },
    },
    {
        "fromLayoutIds": [],
        "stinger": {"cut": {"cutPointMs": 700, "media": {"url": "https://a.example/s.webm", "volume": 0.5}}},
    },
]


def test_every_kind_of_transition_comes_back_as_it_was_sent(show: Show) -> None:
    made = scene(show, transitions=TRANSITIONS)
    assert made.record["transitions"] == TRANSITIONS
    assert made.get()["transitions"] == TRANSITIONS


def test_a_swipe_has_defaults(show: Show) -> None:
    swipe = {"durationMs": "300.4", "direction": "TRANSITION_DIRECTION_UNSPECIFIED"}
    made = scene(show, transitions=[{"swipe": swipe}])
    assert made.record["transitions"] == [
        {
            "fromLayoutIds": [],
            "swipe": {
                "durationMs": 300,
                "direction": "TRANSITION_DIRECTION_LEFT",
                "combinedAnimation": "TRANSITION_SWIPE_TYPE_COMBINED",
            },
        }
    ]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"projectId": None}, {"projectId"}),
        ({"projectId": 5}, {"projectId"}),
        ({"type": "SCENE"}, {"type"}),
        ({"width": 0, "height": 10_001}, {"width", "height"}),
        ({"width": "wide", "metadata": []}, {"width", "metadata"}),
        ({"metadata": {"a": "x" * 10_000}}, {"metadata"}),
        ({"transitions": [{"cut": {}}]}, {"transitions"}),
        ({"transitions": {}}, {"transitions"}),
        ({"transitions": [{}]}, {"transitions[0]"}),
        ({"transitions": [{"cut": {}, "crossfade": {"durationMs": 1}}]}, {"transitions[0]"}),
        ({"transitions": [{"cut": {}}, {"crossfade": {}}]}, {"transitions[1].crossfade.durationMs"}),
        ({"transitions": [{"crossfade": {"durationMs": 30_001}}]}, {"transitions[0].crossfade.durationMs"}),
        (
            {"transitions": [{"swipe": {"durationMs": 1, "direction": "LEFT", "combinedAnimation": "x"}}]},
            {"transitions[0].swipe.direction", "transitions[0].swipe.combinedAnimation"},
        ),
        (
            {"transitions": [{"stinger": {"cut": {"cutPointMs": -1, "media": {"url": "a", "volume": 2}}}}]},
            {
                "transitions[0].stinger.cut.cutPointMs",
                "transitions[0].stinger.cut.media.url",
                "transitions[0].stinger.cut.media.volume",
            },
        ),
        ({"requestMetadata": "x"}, {"requestMetadata"}),
    ],
)
def test_a_wrong_layout_is_refused(show: Show, body: JsonObject, named: set[str]) -> None:
    assert set(violations_of(show.user.call("POST", ROOT, {"projectId": show.id, **body}))) == named
    assert show.user.listed(ROOT) == []


def test_a_layout_is_made_in_a_project_of_the_callers(show: Show, sign_in: Callable[..., User]) -> None:
    other = sign_in().project()
    for project in ("nothing", "Not A Name", other.id):
        assert_error(show.user.call("POST", ROOT, {"projectId": project}), 404, 5)
    body = {"projectId": show.id, "collectionId": show.user.collection()}
    assert violations_of(show.user.call("POST", ROOT, body)) == {
        "collectionId": "is not the collection of the project"
    }


def test_an_update_changes_what_is_sent_alone(show: Show) -> None:
    made = scene(show, metadata={"a": {"b": 1}}, transitions=TRANSITIONS)
    changed = show.user.ok("PATCH", made.path, {"width": "640", "metadata": {"c": None}, "height": None})
    assert changed == {**made.record, "width": 640, "metadata": {"c": None}}
    same = {key: made.record[key] for key in ("projectId", "collectionId", "type")}
    assert show.user.ok("PATCH", made.path, {**same, "transitions": []}) == {**changed, "transitions": []}
    assert show.user.ok("PATCH", made.path, {"type": "LAYOUT_TYPE_UNSPECIFIED"}) == made.get()


def test_type_project_and_collection_stay(show: Show) -> None:
    made = layout(show)
    other = show.user.project(show.collection)
    body = {"type": "LAYOUT_TYPE_SCENE", "projectId": other.id, "collectionId": show.user.collection()}
    response = show.user.call("PATCH", made.path, body)
    assert violations_of(response) == dict.fromkeys(body, "cannot be changed")
    assert set(violations_of(show.user.call("PATCH", made.path, {"transitions": TRANSITIONS}))) == {
        "transitions"
    }
    assert made.get() == made.record


def test_request_metadata_is_echoed_and_left_for_the_event(show: Show, resources: StoredResources) -> None:
    sent = {"requestMetadata": {"why": "test"}}
    headers = {"SessionId": "session-1"}
    made = show.user.ok("POST", ROOT, {"projectId": show.id, **sent}, headers=headers)
    assert made.pop("requestMetadata") == {"why": "test"}
    path = f"{ROOT}/{made['id']}"
    assert show.user.ok("GET", path) == made
    note = resources.get("layouts", made["id"])["metadata"]["annotations"]["onair.dev/request"]
    assert '"sessionId":"session-1"' in note
    assert '"why":"test"' in note
    assert show.user.ok("PATCH", path, {"width": 5, **sent})["requestMetadata"] == {"why": "test"}
    assert show.user.ok("DELETE", path, sent) == {"id": made["id"], **sent}


def test_deletion_with_and_without_a_body(show: Show, resources: StoredResources) -> None:
    every: list[dict[str, Any]] = [{}, {"body": {}}, {"content": b""}]
    for options in every:
        made = scene(show)
        assert show.user.ok("DELETE", made.path, **options) == {"id": made.id}
        assert_error(made.call("GET"), 404, 5)
        assert_error(made.call("GET", "/layers"), 404, 5)
        assert_error(made.call("DELETE"), 404, 5)
        assert not resources.exists("layouts", made.id)


def test_the_list_is_a_bare_array_oldest_first_with_filters(anna: User) -> None:
    assert anna.listed(ROOT) == []
    one, two = anna.project(), anna.project()
    made = [layout(one), scene(two), scene(one), layout(two)]
    ids = [each.id for each in made]

    def listed(query: str = "") -> list[int]:
        return [ids.index(each["id"]) for each in anna.listed(ROOT + query)]

    assert anna.listed(ROOT) == [each.record for each in made]
    assert listed(f"?projectId={one.id}") == [0, 2]
    assert listed(f"?collectionId={two.collection}") == [1, 3]
    assert listed("?type=LAYOUT_TYPE_SCENE") == [1, 2]
    assert listed("?type=LAYOUT_TYPE_SCENELESS") == [0, 3]
    assert listed("?type=LAYOUT_TYPE_UNSPECIFIED&projectId=") == [0, 1, 2, 3]
    assert listed(f"?projectId={one.id}&collectionId={two.collection}") == []
    assert listed("?projectId=nothing") == []
    assert set(violations_of(anna.call("GET", f"{ROOT}?type=SCENE"))) == {"type"}


def test_layouts_of_others_do_not_exist(show: Show, sign_in: Callable[..., User]) -> None:
    made = scene(show)
    bob = sign_in()
    for method, path in (
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/layers"),
        ("POST", "/layers"),
        ("POST", "/layers/batch"),
        ("GET", f"/layers/{made.root()}"),
        ("PATCH", f"/layers/{made.root()}"),
        ("DELETE", f"/layers/{made.root()}"),
    ):
        response = bob.call(method, made.path + path, {} if method != "GET" else None)
        assert_error(response, 404, 5)
        missing = bob.call(method, f"{ROOT}/nothing{path}", {} if method != "GET" else None)
        assert missing.content == response.content, "an id that exists looks like one that does not"
    assert bob.listed(ROOT) == []
    assert bob.listed(f"{ROOT}?projectId={show.id}") == []


def test_a_layout_goes_with_its_project(show: Show, resources: StoredResources) -> None:
    made = [layout(show), scene(show)]
    (owner,) = resources.get("layouts", made[0].id)["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Project", show.id)
    assert show.user.ok("DELETE", show.path) == {"broadcastStopped": False, "layoutsDeleted": 2}
    assert_error(made[0].call("GET"), 404, 5)
    assert not resources.exists("layouts", made[1].id)


def test_a_layout_of_a_manifest_shows_what_it_leaves_out(
    show: Show, resources: StoredResources, facade: FacadeThread
) -> None:
    name = f"by-hand-{show.id}"
    resources.apply(
        "Layout", "layouts", name, {"projectId": show.id, "layers": [{"id": "a", "type": "text"}]}
    )
    wait_for(lambda: facade.view.get("Layout", name), "the layout is seen")
    shown = show.user.ok("GET", f"{ROOT}/{name}")
    assert shown == {
        "id": name,
        "projectId": show.id,
        "collectionId": show.collection,
        "type": "LAYOUT_TYPE_SCENELESS",
        "width": 1280,
        "height": 720,
        "metadata": {},
        "transitions": [],
    }
    assert show.user.ok("PATCH", f"{ROOT}/{name}/layers/a", {"x": 7})["x"] == 7


def test_a_layout_without_a_project_is_nobodys(
    anna: User, resources: StoredResources, facade: FacadeThread
) -> None:
    name = f"orphan-{secrets.token_hex(4)}"
    resources.apply("Layout", "layouts", name, {"projectId": "missing"})
    wait_for(lambda: facade.view.get("Layout", name), "the layout is seen")
    assert_error(anna.call("GET", f"{ROOT}/{name}"), 404, 5)
