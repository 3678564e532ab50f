"""Collections over HTTP, against a real API server."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.support.facade import StoredResources, User
from tests.support.waiting import wait_for

METADATA = {"title": "Sunday", "list": [1, None, {"deep": [True, 1e22, "\u0000 é 🎥"]}], "": {"a/b~c": None}}


def test_a_collection_is_created_and_read(anna: User, resources: StoredResources) -> None:
    created = anna.ok("POST", "/collection", {"metadata": METADATA})["collection"]
    assert created == {
        "collectionId": created["collectionId"],
        "metadata": METADATA,
        "projects": [],
        "sources": [],
    }
    assert anna.ok("GET", f"/collection/{created['collectionId']}") == {"collection": created}
    stored = resources.get("collections", created["collectionId"])
    assert stored["spec"]["owner"]["serviceId"] == "studio"
    assert stored["metadata"]["annotations"]["onair.dev/created"][19] == "."


def test_an_id_is_twenty_characters_and_starts_with_a_letter(anna: User) -> None:
    name = anna.collection()
    assert len(name) == 20
    assert name[0].isalpha()
    assert name.isalnum()
    assert name == name.lower()


def test_unset_metadata_is_an_empty_object(anna: User) -> None:
    for body in (None, {}, {"metadata": None}):
        assert anna.ok("POST", "/collection", body)["collection"]["metadata"] == {}


def test_metadata_may_be_any_json_value(anna: User) -> None:
    values: tuple[object, ...] = ("text", 0, False, [], [None], {"a": {}}, 1.5, "")
    for value in values:
        assert anna.ok("POST", "/collection", {"metadata": value})["collection"]["metadata"] == value


def test_a_list_comes_oldest_first_with_everything_in_it(anna: User) -> None:
    names = [anna.collection(metadata=number) for number in range(5)]
    show = anna.project(names[0])
    destination = show.destination()
    listed = anna.ok("GET", "/collection")["collections"]
    assert [c["collectionId"] for c in listed] == names
    assert listed[0]["projects"][0]["destinations"] == [destination]


def test_projects_and_sources_can_be_left_out(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    path = f"/collection/{show.collection}"
    source = resources.apply(
        "Source", "sources", f"src-{show.id}", {"collectionId": show.collection, "address": {"srtPush": {}}}
    )
    wait_for(lambda: anna.ok("GET", path)["collection"]["sources"], "the source is seen")
    full = anna.ok("GET", path)["collection"]
    assert full["projects"][0]["projectId"] == show.id
    assert full["sources"] == [
        {
            "collectionId": show.collection,
            "sourceId": source["metadata"]["name"],
            "metadata": {},
            "address": {
                "srtPush": {"enabled": True, "baseUrl": f"srt://onair-ingest.{resources.release}.svc:8890"}
            },
            "connect": "CONNECT_STATE_DISCONNECTED",
        }
    ]
    bare = anna.ok("GET", path + "?populateProjects=false&populateSources=FALSE")["collection"]
    assert (bare["projects"], bare["sources"]) == ([], [])
    assert anna.ok("GET", path + "?populateProjects=true")["collection"] == full


def test_an_update_replaces_metadata_whole(anna: User) -> None:
    name = anna.collection(metadata={"a": 1, "b": {"c": 2}})
    path = f"/collection/{name}"
    changed = anna.ok("PATCH", path, {"updateMask": "metadata", "metadata": {"b": {"d": 3}}})
    assert changed["collection"]["metadata"] == {"b": {"d": 3}}
    assert anna.ok("PATCH", path, {"metadata": [1]})["collection"]["metadata"] == [1]
    assert anna.ok("PATCH", path, {})["collection"]["metadata"] == [1]
    assert anna.ok("PATCH", path, {"updateMask": "METADATA"})["collection"]["metadata"] == {}


def test_a_deletion_takes_everything_with_it_and_counts(anna: User, resources: StoredResources) -> None:
    collection = anna.collection()
    shows = [anna.project(collection) for _ in range(3)]
    destination = shows[0].destination()["destinationId"]
    resources.apply(
        "Source", "sources", f"src-{collection}", {"collectionId": collection, "address": {"srtPush": {}}}
    )
    path = f"/collection/{collection}"
    wait_for(lambda: anna.ok("GET", path)["collection"]["sources"], "the source is seen")
    response = anna.ok("DELETE", path)
    assert response == {"sourcesDeleted": 1, "projectsDeleted": 3, "projectIdsStopped": []}
    for plural, name in [
        ("collections", collection),
        ("sources", f"src-{collection}"),
        ("destinations", destination),
        *(("projects", show.id) for show in shows),
    ]:
        assert not resources.exists(plural, name), plural
    assert anna.call("GET", path).status_code == 404
    assert anna.call("DELETE", path).status_code == 404
    assert anna.ok("GET", "/collection") == {"collections": []}


def test_a_deletion_with_a_running_broadcast_must_be_forced(anna: User, resources: StoredResources) -> None:
    collection = anna.collection()
    live, idle = anna.project(collection), anna.project(collection)
    live.start()
    response = anna.call("DELETE", f"/collection/{collection}")
    assert (response.status_code, response.json()["code"]) == (400, 9)
    assert resources.exists("projects", idle.id)
    again = anna.ok("DELETE", f"/collection/{collection}?force=true")
    assert again == {"sourcesDeleted": 0, "projectsDeleted": 2, "projectIdsStopped": [live.id]}


def test_a_collection_of_somebody_else_does_not_exist(anna: User, sign_in: Callable[..., User]) -> None:
    ben = sign_in()
    name = anna.collection()
    for method, body in (("GET", None), ("PATCH", {"metadata": 1}), ("DELETE", None)):
        response = ben.call(method, f"/collection/{name}", body)
        assert (response.status_code, response.json()["code"]) == (404, 5)
    assert ben.call("POST", f"/collection/{name}/project", {}).status_code == 404
    assert name not in str(ben.ok("GET", "/collection"))
    assert anna.ok("GET", f"/collection/{name}")["collection"]["metadata"] == {}


def test_the_same_user_of_another_service_is_somebody_else(
    sign_in: Callable[..., User], resources: StoredResources
) -> None:
    anna, other = sign_in("anna"), sign_in("anna", key=resources.add_api_key("another-service"))
    name = anna.collection()
    assert other.call("GET", f"/collection/{name}").status_code == 404


def test_what_kubectl_makes_and_changes_is_seen(anna: User, resources: StoredResources) -> None:
    own = resources.get("collections", anna.collection())
    name = f"by-hand-{own['metadata']['name'][:8]}"
    resources.apply("Collection", "collections", name, {"owner": own["spec"]["owner"], "metadata": 1})
    assert anna.ok("GET", f"/collection/{name}")["collection"]["metadata"] == 1
    resources.patch("collections", name, {"spec": {"metadata": 2}})
    wait_for(
        lambda: anna.ok("GET", f"/collection/{name}")["collection"]["metadata"] == 2, "the change is seen"
    )
    resources.admin.delete(resources.path("collections", name)).raise_for_status()
    wait_for(lambda: anna.call("GET", f"/collection/{name}").status_code == 404, "the deletion is seen")


def test_a_write_leaves_a_note_for_its_event(anna: User, resources: StoredResources) -> None:
    body = {"metadata": 1, "requestMetadata": {"why": "test"}}
    created = anna.ok("POST", "/collection", body, headers={"SessionId": "session-7"})["collection"]

    def note() -> dict[str, object]:
        annotations = resources.get("collections", created["collectionId"])["metadata"]["annotations"]
        found: dict[str, object] = json.loads(annotations["onair.dev/request"])
        return found

    first = note()
    assert first == {
        "nonce": first["nonce"],
        "details": False,
        "sessionId": "session-7",
        "requestMetadata": {"why": "test"},
    }
    anna.ok("PATCH", f"/collection/{created['collectionId']}", {"metadata": 2})
    second = note()
    assert second == {"nonce": second["nonce"], "details": False}
    assert second["nonce"] != first["nonce"]
