"""What the loop looks at, and when."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import credentials_document, destination_document, document
from tests.support.show_store import show_store

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Change, Store
from onair_crds.shapes import Document
from onair_operator import reconcile as reconcile_module
from onair_operator.cluster.actions import Action, WriteStatus
from onair_operator.cluster.queue import LATER_TURN, Key, WorkQueue
from onair_operator.cluster.resync import Resync
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import PodRefusal, World
from onair_operator.ingest.gateways import Gateways
from onair_operator.project.plan import CHILDREN_IN_A_PLAN
from onair_operator.reconcile import ENTRIES_IN_A_STEP, WORKERS, ReconcileLoop
from onair_operator.reconcilers import BY_KIND
from onair_operator.settings import GatewaySettings, OperatorSettings


@pytest.fixture
def store() -> Store:
    return show_store()


def leading(loop: ReconcileLoop) -> ReconcileLoop:
    """A loop that takes changes as a leader's does."""
    world: Any = SimpleNamespace(forget=lambda gone: None)
    loop._world = world
    return loop


async def test_layers_of_a_show_on_air_are_looked_at_at_once_and_then_once_a_second(store: Store) -> None:
    looks: list[tuple[str, float]] = []
    queue = SimpleNamespace(
        add=lambda key, later=False: None, add_after=lambda key, delay_s: looks.append((str(key), delay_s))
    )
    loop = leading(ReconcileLoop(store, cast(Any, queue), OperatorSettings()))
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
    assert {key for key, _ in looks} == {"Project/show"}
    assert looks[0][1] == 0.0
    assert all(0.5 < delay_s <= 1.0 for _, delay_s in looks[1:])


async def test_a_layout_that_changes_after_an_earlier_look_took_the_place_of_the_next_is_looked_at(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile_module, "LAYOUT_INTERVAL_S", 0.3)
    queue, show = WorkQueue(), Key("Project", "show")
    loop = leading(ReconcileLoop(store, queue, OperatorSettings()))
    running = {**document("show", {"collectionId": "sunday"}), "status": {"broadcast": {"phase": "Running"}}}
    store.update("Project", running)
    owned = [{"uid": "uid-show"}]

    async def look() -> None:
        async with asyncio.timeout(5):
            assert await queue.take() == show
        queue.done(show)

    def edit() -> None:
        change = store.update("Layout", document("stage", {"projectId": "show"}, ownerReferences=owned))
        assert change
        loop.changed(change)

    edit()
    await look()
    edit()
    queue.add_after(show, 0.01)  # as a plan asks for, of several the earliest counts
    await look()
    gone = store.remove("Layout", "stage", "uid-stage")
    assert gone
    loop.changed(gone)
    await look()


async def test_gateways_are_looked_at_when_what_they_pull_changes_and_not_with_every_state(
    store: Store,
) -> None:
    def relay(url: str = "rtmp://media.example/live/a", **status: str) -> Document:
        address = {"rtmpPull": {"url": url}}
        return {**document("relay", {"collectionId": "sunday", "address": address}), "status": status}

    async def never() -> Key:
        await asyncio.Event().wait()
        raise AssertionError

    added: list[str] = []
    queue = SimpleNamespace(
        add=lambda key, later=False: None, add_after=lambda key, _: added.append(str(key)), take=never
    )
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


async def test_news_goes_before_what_was_there_before_this_process_led(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, looked, all_looked = Store(KINDS), list[str](), asyncio.Event()
    loop = ReconcileLoop(store, WorkQueue(), OperatorSettings())

    def look(world: World, name: str) -> None:
        looked.append(name)
        if len(looked) == 201:
            all_looked.set()

    for kind in ("Secret", "Project"):
        monkeypatch.setitem(BY_KIND, kind, replace(BY_KIND[kind], observe=look))
    for each in range(200):
        if change := store.update("Secret", credentials_document(f"key-{each}", f"destination-{each}")):
            loop.changed(change)
    nodes = SimpleNamespace(dead=frozenset())
    world = World(store, cast(Any, SimpleNamespace()), cast(Any, nodes), cast(Any, None))
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    await asyncio.sleep(0)
    if change := store.update("Project", document("show", {"collectionId": "sunday"})):
        loop.changed(change)
    async with asyncio.timeout(20):
        await all_looked.wait()
    running.cancel()
    assert looked.index("show") <= WORKERS


def test_a_change_waits_for_one_look_of_each_other_service(store: Store) -> None:
    queue = WorkQueue()
    loop = leading(ReconcileLoop(store, queue, OperatorSettings()))
    for collection in range(10):
        name = f"collection-{collection}"
        store.update("Collection", document(name))
        for number in range(50):
            store.update("Project", document(f"project-{collection}-{number}", {"collectionId": name}))
            store.update("Source", document(f"source-{collection}-{number}", {"collectionId": name}))
    for collection in range(10):
        change = store.update(
            "Collection", document(f"collection-{collection}", {"owner": {"serviceId": "large"}})
        )
        assert change
        loop.changed(change)
    assert len(queue) == 10 * 101
    store.update("Collection", document("sunday", {"owner": {"serviceId": "small"}}))
    change = store.update("Project", document("show", {"collectionId": "sunday"}))
    assert change
    loop.changed(change)
    assert Key("Project", "show") in [asyncio.run(queue.take()) for _ in range(2)]


async def test_a_new_leader_looks_at_what_is_on_air_before_all_that_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, looked, all_looked = Store(KINDS), list[str](), asyncio.Event()
    loop, number = ReconcileLoop(store, WorkQueue(), OperatorSettings()), 400

    def look(world: World, name: str) -> None:
        looked.append(name)
        if len(looked) == number:
            all_looked.set()

    monkeypatch.setitem(BY_KIND, "Project", replace(BY_KIND["Project"], observe=look))
    shows = {f"show-{each}" for each in range(number) if each % 20 == 19}
    ending = "show-399"
    for each in range(number):
        show = document(f"show-{each}", {"collectionId": f"collection-{each % 7}"})
        if show["metadata"]["name"] in shows - {ending}:
            show["status"] = {"broadcast": {"phase": "Running"}}
        # As a process does that does not lead
        if change := store.update("Project", show):
            loop.changed(change)
    store.update("Pod", document("show-399-run-1", labels={"onair.dev/project": ending}))
    nodes = SimpleNamespace(dead=frozenset())
    world = World(store, cast(Any, SimpleNamespace()), cast(Any, nodes), cast(Any, None))
    running = asyncio.create_task(loop.run(world, cast(Any, None), cast(Any, None)))
    async with asyncio.timeout(20):
        await all_looked.wait()
    running.cancel()
    others_turns = len(shows) // (LATER_TURN - 1) + 1
    assert shows <= set(looked[: len(shows) + others_turns])


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
    world.refusals["show"] = PodRefusal("show-run-1", "exceeded quota")
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


async def test_nodes_are_watched_on_after_a_look_that_failed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile_module, "NODE_INTERVAL_S", 0.001)
    looks = 0

    def changing(_: World) -> set[str]:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise ValueError("a pod that cannot be read")
        return {"node"}

    monkeypatch.setattr(reconcile_module, "changing_nodes", changing)
    queue = WorkQueue()
    world: Any = SimpleNamespace()
    watching = asyncio.create_task(ReconcileLoop(store, queue, OperatorSettings())._watch_nodes(world))
    assert await queue.take() == Key("Node", "node")
    watching.cancel()


async def test_a_show_of_many_destinations_is_looked_at_until_all_are_written(store: Store) -> None:
    queue, number, written = WorkQueue(), 3 * CHILDREN_IN_A_PLAN, list[int]()
    loop, settled = ReconcileLoop(store, queue, OperatorSettings()), asyncio.Event()
    for each in range(number):
        destination = destination_document(
            f"destination-{each}", "show", ownerReferences=[{"uid": "uid-show"}]
        )
        store.update("Destination", destination)

    async def apply(plan: list[Action]) -> None:
        writes = [each for each in plan if isinstance(each, WriteStatus)]
        for each in writes:
            entry = store.entry(each.resource.kind, each.resource.name)
            assert entry
            metadata = entry.metadata | {"resourceVersion": document("any")["metadata"]["resourceVersion"]}
            change = store.update(
                entry.kind, {"metadata": metadata, "spec": entry.spec, "status": each.status.manifest()}
            )
            assert change
            loop.changed(change)
        written.append(sum(each.resource.kind == "Destination" for each in writes))
        if sum(written) > number:
            settled.set()

    fleet, nodes = SimpleNamespace(views=lambda _: {}), SimpleNamespace(dead=frozenset())
    world = World(
        store, cast(Any, fleet), cast(Any, nodes), cast(Any, SimpleNamespace(known=dict)), gateways=Gateways()
    )
    running = asyncio.create_task(loop.run(world, cast(Any, SimpleNamespace(apply=apply)), cast(Any, None)))
    async with asyncio.timeout(20):
        await settled.wait()
    running.cancel()
    assert max(written) == CHILDREN_IN_A_PLAN


class OneByOneReads:
    """Gives each object as it is, and remembers which were read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def get(self, api: Api, _: str | None, name: str) -> Document:
        self.read.append(f"{api.plural}/{name}")
        return document(name, {"projectId": "show", "collectionId": "sunday"})


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (("Destination", "destination-7"), ["destinations/destination-7", "projects/show"]),
        (("Project", "show"), ["projects/show"]),
        (("Layout", "stage"), ["projects/show"]),
        (None, ["projects/show"]),
    ],
)
async def test_a_conflict_has_read_again_what_was_to_be_written_and_not_all_that_a_project_has(
    store: Store, written: tuple[str, str] | None, read: list[str]
) -> None:
    for number in range(20):
        store.update("Destination", destination_document(f"destination-{number}", "show"))
    loop, client = ReconcileLoop(store, WorkQueue(), OperatorSettings()), OneByOneReads()
    error = ApiError(409, "Conflict", "the object has been modified")
    error.written = written
    resync = Resync(cast(Any, client), store, "shows", loop.changed, lambda: True)
    await loop._retry(Key("Project", "show"), error, cast(Any, None), resync)
    assert client.read == read


@pytest.mark.parametrize("status", [404, 409])
async def test_what_a_balancer_says_of_a_stream_ends_no_worker(store: Store, status: int) -> None:
    """A stream is no object that could be read again."""
    queue = WorkQueue()
    loop = ReconcileLoop(store, queue, OperatorSettings())
    error, none = ApiError(status, "", "page not found"), cast(Any, None)
    await loop._retry(Key("Stream", "phone"), error, none, Resync(none, store, "shows", none, none))
    async with asyncio.timeout(5):
        assert str(await queue.take()) == "Stream/phone"
