"""Sources in projects with their triggers; pictures and rooms of a project."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.tokens import assert_error, fields_of, invite
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

OR, IGNORE = "SOURCE_TRIGGER_ACTION_OR", "SOURCE_TRIGGER_ACTION_IGNORE"


def create(show: Show) -> str:
    body: JsonObject = {"address": {"rtmpPush": {}}}
    return str(show.user.ok("POST", f"/collection/{show.collection}/source", body)["source"]["sourceId"])


def path_of(show: Show, source: str) -> str:
    return f"{show.path}/source/{source}"


def on_air(resources: StoredResources, show: Show) -> None:
    resources.set_broadcast(show.id, {"id": show.start(), "epoch": 1, "phase": "Running"})
    wait_for(lambda: show.status()["phase"].endswith("_RUNNING"), "the show runs")


def test_a_source_is_added_with_its_trigger(show: Show) -> None:
    source = create(show)
    response = show.user.ok("PUT", path_of(show, source), {"trigger": {"start": OR}})
    assert response["broadcastUpdated"] is False
    project = response["project"]
    assert [each["sourceId"] for each in project["sources"]] == [source]
    assert project["triggers"] == [{"source": {"sourceId": source, "start": OR, "stop": IGNORE}}]
    assert show.get()["project"] == project


def test_a_source_without_a_trigger_has_none(show: Show) -> None:
    source = create(show)
    for body in (None, {}, {"trigger": None}):
        project = show.user.ok("PUT", path_of(show, source), body)["project"]
        assert project["triggers"] == []
        assert len(project["sources"]) == 1, "adding again changes nothing"


def test_adding_again_gives_the_new_trigger(show: Show) -> None:
    source = create(show)
    show.user.ok("PUT", path_of(show, source), {"trigger": {"start": OR, "sourceId": source}})
    again = show.user.ok("PUT", path_of(show, source), {"trigger": {"stop": OR}})["project"]
    assert again["triggers"] == [{"source": {"sourceId": source, "start": IGNORE, "stop": OR}}]
    kept = show.user.ok("PUT", path_of(show, source), {})["project"]
    assert kept["triggers"] == again["triggers"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(
    ("trigger", "fields"),
    [
        ({"sourceId": "another"}, {"trigger.sourceId"}),
        ({"source_id": 5}, {"trigger.sourceId"}),
        ({"start": "OR"}, {"trigger.start"}),
        ({"start": 1, "stop": []}, {"trigger.start", "trigger.stop"}),
        ("yes", {"trigger"}),
    ],
)
def test_a_wrong_trigger_changes_nothing(show: Show, method: str, trigger: Any, fields: set[str]) -> None:
    source = create(show)
    show.user.ok("PUT", path_of(show, source), {"trigger": {"start": OR}})
    before = show.get()
    assert fields_of(show.user.call(method, path_of(show, source), {"trigger": trigger})) == fields
    assert show.get() == before


def test_an_update_follows_its_mask(show: Show) -> None:
    source = create(show)
    path = path_of(show, source)
    show.user.ok("PUT", path, {"trigger": {"start": OR, "stop": OR}})

    def triggers(body: JsonObject) -> Any:
        response = show.user.ok("PATCH", path, body)
        assert set(response) == {"project"}
        return [(t["source"]["start"], t["source"]["stop"]) for t in response["project"]["triggers"]]

    assert triggers({"updateMask": "trigger.stop", "trigger": {"start": IGNORE}}) == [(OR, IGNORE)]
    assert triggers({"trigger": {"stop": OR}}) == [(OR, OR)]
    assert triggers({"update_mask": "TRIGGER.START"}) == [(IGNORE, OR)]
    assert triggers({"updateMask": "trigger"}) == []
    assert fields_of(show.user.call("PATCH", path, {"updateMask": "color"})) == {"updateMask"}


def test_a_source_is_removed(show: Show) -> None:
    first, second = create(show), create(show)
    for source in (first, second):
        show.user.ok("PUT", path_of(show, source), {"trigger": {"start": OR}})
    response = show.user.ok("DELETE", path_of(show, first))
    assert response["broadcastUpdated"] is False
    assert [each["sourceId"] for each in response["project"]["sources"]] == [second]
    assert [each["source"]["sourceId"] for each in response["project"]["triggers"]] == [second]
    assert show.user.ok("GET", f"/collection/{show.collection}/source/{first}"), "it stays in its collection"
    for method in ("DELETE", "PATCH"):
        assert_error(show.user.call(method, path_of(show, first), None), 404, 5)


def test_a_running_broadcast_is_told_of(show: Show, resources: StoredResources) -> None:
    first, second = create(show), create(show)
    show.user.ok("PUT", path_of(show, first))
    on_air(resources, show)
    assert show.user.ok("PUT", path_of(show, second))["broadcastUpdated"] is True
    assert show.user.ok("PUT", path_of(show, second))["broadcastUpdated"] is False
    assert_error(show.user.call("DELETE", path_of(show, first)), 400, 9)
    assert show.user.ok("DELETE", f"{path_of(show, first)}?force=true")["broadcastUpdated"] is True


def test_only_sources_of_the_collection_can_be_added(show: Show, sign_in: Callable[..., User]) -> None:
    stranger = create(sign_in().project())
    other = create(show.user.project())
    for source in (stranger, other, "nothing"):
        assert_error(show.user.call("PUT", path_of(show, source), {}), 404, 5)
    assert show.get()["project"]["sources"] == []


def test_a_cohost_places_sources_in_his_project(show: Show) -> None:
    source = create(show)
    cohost = invite(show, "COHOST")
    project = cohost.ok("PUT", path_of(show, source), {"trigger": {"start": OR}})["project"]
    assert "key" in project["sources"][0]["address"]["rtmpPush"]
    sibling = show.user.project(show.collection)
    assert_error(cohost.call("PUT", path_of(sibling, source), {}), 404, 5)


def test_a_project_has_at_most_a_hundred_sources(show: Show, resources: StoredResources) -> None:
    source = create(show)
    spec = {"sources": [{"sourceId": f"s{i}"} for i in range(100)]}
    resources.patch("projects", show.id, {"spec": spec})
    wait_for(
        lambda: show.user.call("PUT", path_of(show, source), {}).status_code == 400, "the hundred are seen"
    )
    assert fields_of(show.user.call("PUT", path_of(show, source), {})) == {"sources"}


def test_sources_added_at_once_on_two_replicas_all_stay(show: Show, second_facade: FacadeThread) -> None:
    sources = [create(show) for _ in range(12)]
    users = [show.user, User(second_facade, show.user.token)]

    def add(number: int) -> None:
        users[number % 2].ok("PUT", path_of(show, sources[number]), {"trigger": {"start": OR}})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(add, range(12)))
    project = cluster_view(show)
    assert {each["sourceId"] for each in project["sources"]} == set(sources)
    assert len(project["triggers"]) == 12


def cluster_view(show: Show) -> JsonObject:
    """The project once this replica has seen what the other wrote."""
    found: JsonObject = wait_for(
        lambda: len((p := show.get()["project"])["sources"]) == 12 and p, "both replicas' writes are seen"
    )
    return found


def test_a_picture_needs_a_running_broadcast(show: Show, resources: StoredResources) -> None:
    path = f"{show.path}/broadcast/snapshot"
    assert_error(show.user.call("GET", f"{path}?format=IMAGE_FORMAT_JPEG"), 400, 9)
    assert fields_of(show.user.call("GET", f"{path}?format=PNG")) == {"format"}
    on_air(resources, show)
    response = show.user.call("GET", path)
    assert_error(response, 503, 14)
    assert "another encoder" in response.json()["message"], "the status names a pod that is not there"


def test_rooms_need_a_room_server(show: Show) -> None:
    for method in ("PUT", "POST"):
        for verb in ("start", "stop"):
            response = show.user.call(method, f"{show.path}/webrtc/{verb}")
            assert_error(response, 400, 9)
            assert "hosted WebRTC" in response.json()["message"]
    path = f"{show.path}/webrtc/token"
    assert_error(show.user.call("POST", path, {"displayName": "Ben", "participantMetadata": "{}"}), 400, 9)
    for body in ({}, {"displayName": ""}, {"displayName": 5}, {"displayName": "x" * 257}):
        assert fields_of(show.user.call("POST", path, body)) == {"displayName"}


def test_pictures_and_rooms_of_others_do_not_exist(show: Show, sign_in: Callable[..., User]) -> None:
    stranger = sign_in()
    assert_error(stranger.call("GET", f"{show.path}/broadcast/snapshot"), 404, 5)
    assert_error(stranger.call("PUT", f"{show.path}/webrtc/start"), 404, 5)
