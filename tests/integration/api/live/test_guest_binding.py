"""A guest's token is for one very project: not for a later one of the same name."""

from __future__ import annotations

import pytest
from tests.support.event_client import PUBLISH, WebSocket
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.tokens import assert_error, claims_of, invite, refresh, refreshed, seen_by
from tests.support.waiting import wait_for

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import PROJECT
from onair_crds.shapes import JsonObject


def recreate(show: Show, resources: StoredResources) -> None:
    """Another project of the same name in the same collection, as kubectl makes it."""
    owners = resources.get("projects", show.id)["metadata"]["ownerReferences"]
    show.user.ok("DELETE", show.path)
    wait_for(lambda: not resources.exists("projects", show.id), "the project is gone")
    made = resources.apply("Project", "projects", show.id, {"collectionId": show.collection})
    resources.patch("projects", show.id, {"metadata": {"ownerReferences": owners}})
    uid = made["metadata"]["uid"]

    def seen() -> bool:
        facade = show.user.facade
        assert isinstance(facade, FacadeThread)
        entry = facade.view.get("Project", show.id)
        return entry is not None and entry.uid == uid

    wait_for(seen, "the new project is seen")


def skip_to(stream: WebSocket, sub_type: str) -> None:
    while not stream.next()["result"]["event"]["name"].endswith(f"SUB_TYPE_{sub_type}"):
        pass


@pytest.fixture
def show(host: User) -> Show:
    return host.project()


def test_it_does_not_reach_a_later_project_of_the_same_name(show: Show, resources: StoredResources) -> None:
    direct, session = invite(show, "COHOST"), refreshed(invite(show, "COHOST"))
    claims = claims_of(session.token)
    assert claims["projectUid"] == resources.get("projects", show.id)["metadata"]["uid"]
    assert set(claims["guestControl"]) == {"collectionId", "projectId", "role"}
    with WebSocket(show.user.facade, session.token) as stream:
        stream.subscribe()
        recreate(show, resources)
        target: JsonObject = {"projectId": show.id}
        for guest in (direct, session):
            assert_error(guest.call("GET", show.path), 404, 5)
            assert_error(guest.call("PATCH", show.path, {"metadata": 1}), 404, 5)
            assert_error(guest.call("POST", PUBLISH, {"name": "a", "payload": {}, "target": target}), 404, 5)
            assert_error(refresh(guest), 401, 16)
        while "error" not in (message := stream.next()):
            assert "result" in message
        assert stream.closed() == 1008, "its stream ends"
    with WebSocket(show.user.facade, session.token) as stream:
        assert stream.next()["code"] == 7, "and no other opens"
    invited = invite(show, "COHOST")
    assert seen_by(invited, show).get()["project"]["projectId"] == show.id


def test_an_open_stream_receives_nothing_of_a_later_project_of_the_same_name(
    show: Show, resources: StoredResources, second_facade: FacadeThread
) -> None:
    host = show.user
    guest = invite(show, "COHOST")
    with WebSocket(host.facade, guest.token) as near, WebSocket(second_facade, guest.token) as far:
        for stream in (near, far):
            stream.subscribe()
            stream.subscribe(projectId=show.id)
        show.patch(metadata="of the first one")
        for stream in (near, far):
            skip_to(stream, "UPDATE")
        recreate(show, resources)
        show.patch(metadata="of the later one")
        host.ok("POST", PUBLISH, {"name": "hello", "payload": {}, "target": {"projectId": show.id}})
        for stream in (near, far):
            names = []
            while "error" not in (message := stream.next()):
                if event := message["result"].get("event"):
                    names.append(event["name"].rpartition("_")[2])
            assert set(names) <= {"DELETE"}, "which is of the project that it was of"


def test_streams_end_with_the_project_of_their_guest(show: Show) -> None:
    guest = invite(show, "GUEST")
    with WebSocket(show.user.facade, guest.token) as stream:
        stream.subscribe()
        show.user.ok("DELETE", show.path)
        skip_to(stream, "DELETE")
        assert stream.closed() == 1008
    with WebSocket(show.user.facade, guest.token) as stream:
        assert stream.next()["code"] == 7, "and no other opens"


def test_a_guest_of_a_project_whose_recreation_a_replica_has_not_seen_is_admitted(
    show: Show, resources: StoredResources, second_facade: FacadeThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    reflectors = second_facade.services.cluster._reflectors
    watch = next(each for each in reflectors if each.kind == PROJECT)
    wait_for(lambda: second_facade.view.get(PROJECT, show.id), "the project is seen")
    monkeypatch.setattr(watch, "_store", View())
    recreate(show, resources)
    late = User(second_facade, invite(show, "GUEST").token)
    with WebSocket(second_facade, late.token) as stream:
        stream.subscribe(projectId=show.id)
    assert seen_by(late, show).get()["project"]["projectId"] == show.id


def test_a_cohost_adds_sources_of_the_projects_own_collection_alone(
    show: Show, resources: StoredResources
) -> None:
    host = show.user
    cohost = invite(show, "COHOST")
    address: JsonObject = {"address": {"rtmpPush": {}}}
    own = host.ok("POST", f"/collection/{show.collection}/source", address)["source"]["sourceId"]
    other = host.collection()
    foreign = host.ok("POST", f"/collection/{other}/source", address)["source"]["sourceId"]
    assert_error(cohost.call("PUT", f"{show.path}/source/{foreign}", {}), 404, 5)
    assert_error(cohost.call("PUT", f"/collection/{other}/project/{show.id}/source/{foreign}", {}), 404, 5)
    project = cohost.ok("PUT", f"{show.path}/source/{own}", {})["project"]
    assert [each["sourceId"] for each in project["sources"]] == [own]
