"""Which keys a change bears on."""

from __future__ import annotations

import base64

import pytest
from tests.support.documents import credentials_document, destination_document, document
from tests.support.show_store import show_store

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.contract.owners import TRACKING_ANNOTATION, owner_reference
from onair_crds.kube.store import Entry, Store
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.reconcilers import keys_of


@pytest.fixture
def store() -> Store:
    return show_store()


def looked_at(store: Store, kind: str, changed: Document) -> set[str]:
    change = store.update(kind, changed)
    return {str(key) for key in keys_of(store, change)} if change else set()


def looked_at_when_gone(store: Store, kind: str, name: str) -> set[str]:
    change = store.remove(kind, name, f"uid-{name}")
    assert change
    return {str(key) for key in keys_of(store, change)}


def test_a_collection_bears_on_its_projects_and_sources(store: Store) -> None:
    owner = {"serviceId": "studio", "serviceUserId": "anna"}
    everything = {"Collection/sunday", "Project/show", "Source/camera"}
    assert looked_at(store, "Collection", document("sunday", {"owner": owner})) == everything
    assert looked_at(store, "Collection", document("sunday", {"owner": owner}, uid="uid-2")) == everything
    leaving = {"uid": "uid-2", "deletionTimestamp": "2026-05-01T12:00:00Z"}
    assert looked_at(store, "Collection", document("sunday", {"owner": owner}, **leaving)) == everything
    store.update("Collection", document("sunday", {"owner": owner}))
    assert looked_at_when_gone(store, "Collection", "sunday") == everything
    assert looked_at(store, "Collection", document("sunday", uid="uid-3")) == everything


def test_what_nobody_reads_of_a_collection_bears_on_itself_alone(store: Store) -> None:
    """It may have thousands of projects."""
    for number in range(3):
        noted = document("sunday", {"metadata": number}, generation=number)
        assert looked_at(store, "Collection", {**noted, "status": {"observedGeneration": number}}) == {
            "Collection/sunday"
        }


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("Project", document("show", {"collectionId": "sunday"})),
        ("Destination", destination_document("second", "show")),
        ("Layout", document("stage", {"projectId": "show"})),
        ("Pod", document("show-run-1", labels={"onair.dev/project": "show"})),
    ],
)
def test_what_is_a_projects_bears_on_it(store: Store, kind: str, changed: Document) -> None:
    changed["metadata"]["resourceVersion"] = "1000000"
    assert looked_at(store, kind, changed) == {"Project/show"}


def test_a_layout_bears_on_its_project_until_it_is_its(store: Store) -> None:
    stage = document("stage", {"projectId": "show"})
    assert looked_at(store, "Layout", stage) == {"Project/show"}
    owned = [{"uid": "uid-show"}]
    edited = document("stage", {"projectId": "show"}, ownerReferences=owned)
    assert looked_at(store, "Layout", edited) == set()
    assert looked_at_when_gone(store, "Layout", "stage") == set()
    assert looked_at(store, "Layout", document("early", {"projectId": "later"})) == set()


def test_a_layout_that_argo_cd_manages_bears_on_its_project_until_it_is_nobodys(store: Store) -> None:
    tracked = {TRACKING_ANNOTATION: "shows:onair.dev/Layout:shows/stage"}
    spec = {"projectId": "show"}
    assert looked_at(store, "Layout", document("stage", spec, annotations=tracked)) == set()
    owned = [owner_reference("Project", "show", "uid-show")]
    adopted = document("stage", spec, annotations=tracked, ownerReferences=owned)
    assert looked_at(store, "Layout", adopted) == {"Project/show"}


def test_a_secret_bears_on_the_projects_whose_destinations_refer_to_it(store: Store) -> None:
    assert looked_at(store, "Secret", document("key")) == {"Project/show"}
    assert looked_at(store, "Secret", document("other")) == set()


def test_a_secret_that_was_made_for_a_destination_bears_on_it_before_it_is_referred_to(store: Store) -> None:
    keys = looked_at(store, "Secret", credentials_document("next-key", "main"))
    assert keys == {"Project/show", "Secret/next-key"}


def test_a_destination_without_a_project_is_looked_at_itself(store: Store) -> None:
    keys = looked_at(store, "Destination", destination_document("early", "later"))
    assert keys == {"Project/later", "Destination/early"}
    assert looked_at_when_gone(store, "Project", "show") == {"Project/show", "Destination/main"}


def test_a_source_bears_on_the_projects_that_show_it_and_on_no_other(store: Store) -> None:
    camera = document("camera", {"collectionId": "sunday"})
    acting = {"sourceId": "camera", "trigger": {"start": "Or"}}
    store.update("Project", document("show", {"collectionId": "sunday", "sources": [acting]}))
    shown = {"sourceId": "camera", "trigger": {"start": "Ignore"}}
    store.update("Project", document("page", {"collectionId": "sunday", "sources": [shown]}))
    store.update("Project", document("other", {"collectionId": "sunday", "sources": [{"sourceId": "stage"}]}))
    camera["metadata"]["resourceVersion"] = "1000000"
    camera["status"] = {"connect": "Connected"}
    assert looked_at(store, "Source", camera) == {"Source/camera", "Project/show", "Project/page"}


@pytest.mark.parametrize(
    ("changed", "read"),
    [
        ({"spec": {"metadata": {"shelf": 2}}}, False),
        ({"spec": {"address": {"rtmpPush": {"enabled": True}}}}, False),
        ({"status": {"observedGeneration": 2, "lastError": "nothing arrives"}}, False),
        ({"status": {"media": {"summary": "1280x720"}}}, False),
        ({"spec": {"preview": {"webrtc": {"displayName": "Camera"}}}}, True),
        ({"status": {"connect": "Connected"}}, True),
        ({"status": {"since": "2026-05-01T10:00:00Z"}}, True),
        ({"status": {"unknown": True}}, True),
        ({"status": {"gateway": "ingest-0"}}, True),
        ({"status": {"stream": "phone"}}, True),
        ({"status": {"media": "of another version, so that nothing is known of it"}}, True),
        ({"metadata": {"deletionTimestamp": "2026-05-01T12:00:00Z"}}, True),
    ],
)
def test_a_source_bears_on_the_projects_that_show_it_by_what_they_read(
    store: Store, changed: Document, read: bool
) -> None:
    shown = [{"sourceId": "camera"}]
    store.update("Project", document("show", {"collectionId": "sunday", "sources": shown}))
    camera = document("camera", {"collectionId": "sunday"}, generation=2)
    for part, fields in changed.items():
        camera[part] = {**camera.get(part, {}), **fields}
    keys = {each for each in looked_at(store, "Source", camera) if not each.startswith("Stream/")}
    assert keys == ({"Source/camera", "Project/show"} if read else {"Source/camera"})


def test_a_stream_key_bears_on_its_source_and_on_the_streams_before_and_after(store: Store) -> None:
    def key(text: str) -> Document:
        secret = credentials_document("source-camera", "camera", "source")
        return {**secret, "data": {"streamKey": base64.b64encode(text.encode()).decode()}}

    first, second = (f"Stream/{stream_of_key(each)}" for each in ("k1", "k2"))
    own = {"Source/camera", "Secret/source-camera"}
    assert looked_at(store, "Secret", key("k1")) == {*own, first}
    assert looked_at(store, "Secret", key("k2")) == {*own, first, second}
    connected = {"stream": stream_of_key("k1")}
    camera = {**document("camera", {"collectionId": "sunday"}), "status": connected}
    assert looked_at(store, "Source", camera) == {"Source/camera", first, second}


def test_secrets_are_looked_at_when_what_they_were_made_for_is_gone(store: Store) -> None:
    store.update("Secret", credentials_document("source-camera", "camera", "source"))
    assert looked_at_when_gone(store, "Source", "camera") == {"Source/camera", "Secret/source-camera"}
    assert looked_at_when_gone(store, "Destination", "main") == {"Project/show", "Secret/key"}


def pod(project: str, node: str | None) -> Document:
    spec = {"nodeName": node} if node else {}
    return {**document(f"{project}-run-1", spec, labels={"onair.dev/project": project}), "status": {}}


def test_a_node_bears_on_shows_with_pods_on_it_or_on_none(store: Store) -> None:
    for project, node in (("here", "node-a"), ("elsewhere", "node-b"), ("waits", None)):
        store.update("Project", document(project, {"collectionId": "sunday"}))
        store.update("Pod", pod(project, node))
    both = {"Project/here", "Project/waits"}
    assert both <= looked_at(store, "Node", document("node-a"))
    assert "Project/elsewhere" not in looked_at(store, "Node", document("node-a", uid="uid-of-another"))
    placed = pod("waits", "node-b")
    placed["metadata"]["resourceVersion"] = "1000000"
    store.update("Pod", placed)
    assert looked_at(store, "Node", document("node-b")) >= {"Project/elsewhere", "Project/waits"}
    assert "Project/waits" not in looked_at(store, "Node", document("node-c"))


def test_a_node_bears_on_shows_when_it_comes_or_goes_and_not_at_every_heartbeat(store: Store) -> None:
    assert looked_at(store, "Node", document("node-a")) == {"Project/show"}
    assert looked_at(store, "Node", document("node-a")) == set()
    again = document("node-a", uid="uid-of-another")
    assert looked_at(store, "Node", again) == {"Project/show"}
    assert looked_at(store, "Node", document("node-a", uid="uid-of-another")) == set()
    store.update("Node", document("node-a"))
    assert looked_at_when_gone(store, "Node", "node-a") == {"Project/show"}


class CountingStore(Store):
    """Counts the objects that lookups come upon."""

    def __init__(self) -> None:
        super().__init__(KINDS)
        self.touched = 0

    def entry(self, kind: str, name: str) -> Entry | None:
        self.touched += 1
        return super().entry(kind, name)

    def entries(self, kind: str) -> list[Entry]:
        found = super().entries(kind)
        self.touched += len(found)
        return found

    def select(self, kind: str, index: str, *key: str) -> list[Entry]:
        found = super().select(kind, index, *key)
        self.touched += len(found)
        return found


def test_what_a_secret_bears_on_is_found_without_looking_at_every_destination() -> None:
    store, number = CountingStore(), 1000
    store.update("Project", document("show", {"collectionId": "sunday"}))
    for each in range(number):
        store.update("Destination", destination_document(f"destination-{each}", "show", f"key-{each}"))
    for each in range(number):
        keys = looked_at(store, "Secret", credentials_document(f"key-{each}", f"destination-{each}"))
        assert keys == {"Project/show", f"Secret/key-{each}"}
    assert store.touched <= 4 * number
    store.touched = 0
    for each in range(number):
        assert looked_at_when_gone(store, "Destination", f"destination-{each}") == {
            "Project/show",
            f"Secret/key-{each}",
        }
    assert store.touched <= 4 * number
