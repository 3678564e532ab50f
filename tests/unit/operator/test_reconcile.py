"""Which keys a change bears on."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import credentials_document, destination_document, document

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.kube.store import Change, Entry, Store
from onair_crds.shapes import Document
from onair_operator.cluster.queue import Key, WorkQueue
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import Refusal, World
from onair_operator.ingest.gateways import Gateways
from onair_operator.ingest.streams import News
from onair_operator.reconcile import ENTRIES_IN_A_STEP, WORKERS, ReconcileLoop, keys_of
from onair_operator.settings import GatewaySettings, OperatorSettings


@pytest.fixture
def store() -> Store:
    """A show with a destination, whose stream key the facade made, and a source."""
    store = Store(KINDS)
    store.update("Collection", document("sunday"))
    store.update("Project", document("show", {"collectionId": "sunday"}))
    store.update("Source", document("camera", {"collectionId": "sunday"}))
    store.update("Destination", destination_document("main", "show", "key"))
    store.update("Secret", credentials_document("key", "main"))
    store.update("Pod", document("show-run-1", labels={"onair.dev/project": "show"}))
    return store


def looked_at(store: Store, kind: str, changed: Document) -> set[str]:
    change = store.update(kind, changed)
    return {str(key) for key in keys_of(store, change)} if change else set()


def looked_at_when_gone(store: Store, kind: str, name: str) -> set[str]:
    change = store.remove(kind, name, f"uid-{name}")
    assert change
    return {str(key) for key in keys_of(store, change)}


def test_a_collection_bears_on_its_projects_and_sources(store: Store) -> None:
    keys = looked_at(store, "Collection", document("sunday"))
    assert keys == {"Collection/sunday", "Project/show", "Source/camera"}


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
    assert looked_at(store, "Source", camera) == {"Source/camera", "Project/show", "Project/page"}


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


def test_a_gateways_word_bears_on_streams_and_their_sources_and_its_silence_on_all_that_it_has(
    store: Store,
) -> None:
    pulled = {"collectionId": "sunday", "address": {"rtmpPull": {"url": "rtmp://media.example/live/a"}}}
    store.update("Source", document("relay", pulled))
    phone = {**document("phone", {"collectionId": "sunday"}), "status": {"gateway": "ingest-0"}}
    store.update("Source", phone)
    queue = WorkQueue()
    loop = ReconcileLoop(store, queue, OperatorSettings())
    loop.told(News("ingest-0", frozenset({"pull-relay", "nobodys"})))
    assert taken(queue) == {"Stream/pull-relay", "Stream/nobodys", "Source/relay"}
    loop.told(News("ingest-0", frozenset(), contact=True))
    assert taken(queue) == {"Source/phone", "Source/relay", "Gateway/ingest-0"}


async def test_layers_of_a_show_on_air_are_looked_at_at_once_and_then_once_a_second(store: Store) -> None:
    looks: list[tuple[str, float]] = []
    queue = SimpleNamespace(
        add=lambda key: None, add_after=lambda key, delay_s: looks.append((str(key), delay_s))
    )
    loop = ReconcileLoop(store, cast(Any, queue), OperatorSettings())
    owned = [{"uid": "uid-show"}]

    def edit(name: str = "stage", project: str = "show") -> None:
        change = store.update("Layout", document(name, {"projectId": project}, ownerReferences=owned))
        assert change
        loop.changed(change)

    edit()
    assert looks == [], "nothing is on air"
    running = {**document("show", {"collectionId": "sunday"}), "status": {"broadcast": {"phase": "Running"}}}
    store.update("Project", running)
    for _ in range(30):
        edit()
    edit("other", project="another")
    assert [key for key, _ in looks] == ["Project/show", "Project/show"]
    assert looks[0][1] == 0.0
    assert 0.5 < looks[1][1] <= 1.0


async def test_gateways_are_looked_at_when_what_they_pull_changes_and_not_with_every_state(
    store: Store,
) -> None:
    def relay(url: str = "rtmp://media.example/live/a", **status: str) -> Document:
        address = {"rtmpPull": {"url": url}}
        return {**document("relay", {"collectionId": "sunday", "address": address}), "status": status}

    async def never() -> Key:
        return await asyncio.Event().wait() or Key("", "")

    added: list[str] = []
    queue = SimpleNamespace(add=lambda key: None, add_after=lambda key, _: added.append(str(key)), take=never)
    loop = ReconcileLoop(store, cast(Any, queue), OperatorSettings())
    gateways = Gateways([GatewaySettings(name="ingest-0", url="http://ingest-0")])
    world = World(
        store, cast(Any, None), cast(Any, SimpleNamespace(refresh=None)), cast(Any, None), gateways=gateways
    )
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    await asyncio.sleep(0)

    def looked_at(change: Change | None) -> list[str]:
        added.clear()
        if change:
            loop.changed(change)
        return added

    assert not looked_at(store.update("Source", relay())), "it is nobody's yet"
    assert looked_at(store.update("Source", relay(gateway="ingest-0"))) == ["Gateway/ingest-0"]
    for connect in ("Connected", "Disconnected"):
        state = store.update("Source", relay(gateway="ingest-0", connect=connect))
        assert not looked_at(state)
    other_url = relay("rtmp://media.example/live/b", gateway="ingest-0")
    assert looked_at(store.update("Source", other_url)) == ["Gateway/ingest-0"]
    moved = relay("rtmp://media.example/live/b", gateway="ingest-1")
    assert sorted(looked_at(store.update("Source", moved))) == ["Gateway/ingest-0", "Gateway/ingest-1"]
    assert looked_at(store.remove("Source", "relay", "uid-relay")) == ["Gateway/ingest-1"]
    running.cancel()


def taken(queue: WorkQueue) -> set[str]:
    """The keys that wait."""
    keys = [asyncio.run(queue.take()) for _ in range(len(queue))]
    for key in keys:
        queue.done(key)
    return {str(key) for key in keys}


def test_secrets_are_looked_at_when_what_they_were_made_for_is_gone(store: Store) -> None:
    store.update("Secret", credentials_document("source-camera", "camera", "source"))
    assert looked_at_when_gone(store, "Source", "camera") == {"Source/camera", "Secret/source-camera"}
    assert looked_at_when_gone(store, "Destination", "main") == {"Project/show", "Secret/key"}


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


async def test_others_have_a_turn_while_there_is_much_to_look_at() -> None:
    store, queue, number = Store(KINDS), WorkQueue(), 2000
    for each in range(number):
        store.update("Secret", credentials_document(f"key-{each}", f"destination-{each}"))
    most_in_a_turn, left = 0, number
    loop = ReconcileLoop(store, queue, OperatorSettings())
    nodes = SimpleNamespace(dead=frozenset())
    world = World(store, cast(Any, SimpleNamespace()), cast(Any, nodes), cast(Any, None))

    async def apply(_: object) -> None:
        nonlocal left
        left -= 1

    running = asyncio.create_task(loop.run(world, cast(Any, SimpleNamespace(apply=apply)), cast(Any, None)))
    while left:
        before = left, len(queue)
        await asyncio.sleep(0)
        assert len(queue) - before[1] <= ENTRIES_IN_A_STEP
        most_in_a_turn = max(most_in_a_turn, before[0] - left)
    running.cancel()
    assert most_in_a_turn <= WORKERS


@pytest.mark.parametrize("uid", [None, "uid-of-another"])
async def test_the_encoder_of_a_pod_that_is_gone_or_replaced_is_parted_with(
    store: Store, uid: str | None
) -> None:
    parted: list[str] = []
    fleet = SimpleNamespace(part=parted.append)
    nodes = SimpleNamespace(dead=frozenset())
    loop = ReconcileLoop(store, WorkQueue(), OperatorSettings())
    world = World(store, cast(Any, fleet), cast(Any, nodes), cast(Any, None))
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    await asyncio.sleep(0)
    name = "show-run-1"
    change = store.update("Pod", document(name, uid=uid)) if uid else store.remove("Pod", name, f"uid-{name}")
    assert change
    loop.changed(change)
    running.cancel()
    assert parted == [f"uid-{name}"]


async def test_what_a_project_was_refused_is_forgotten_with_it(store: Store) -> None:
    nodes = SimpleNamespace(dead=frozenset())
    world = World(store, cast(Any, SimpleNamespace()), cast(Any, nodes), cast(Any, None))
    world.refusals["show"] = Refusal("show-run-1", "exceeded quota")
    loop = ReconcileLoop(store, WorkQueue(), OperatorSettings())
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    await asyncio.sleep(0)
    edited = store.update("Project", document("show", {"collectionId": "sunday"}, resourceVersion="1000000"))
    assert edited
    loop.changed(edited)
    assert world.refusals
    gone = store.remove("Project", "show", "uid-show")
    assert gone
    loop.changed(gone)
    running.cancel()
    assert not world.refusals
