"""What the owner of a project has on air, as the operator knows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.documents import document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.project.run_quotas import used_up
from onair_operator.settings import RunQuota, RunQuotas

HD = {"video": {"width": 1280, "height": 720, "framerate": 30}}
PIXELS = 1280 * 720 * 30
OWNERS = {"one": ("news", "ann"), "two": ("news", "ann"), "ben": ("news", "ben"), "far": ("sports", "ann")}


def some(broadcasts: int = 0, pixels_per_second: int = 0) -> RunQuota:
    return RunQuota(broadcasts=broadcasts, pixels_per_second=pixels_per_second)


def world_of(on_air: dict[str, str], user: RunQuota, service: RunQuota) -> World:
    """`on_air` are projects and their phases, each in the collection that its name begins with."""
    store = Store(KINDS)
    for name, (of, who) in OWNERS.items():
        store.update("Collection", document(name, {"owner": {"serviceId": of, "serviceUserId": who}}))
    for name, phase in on_air.items():
        spec = {"collectionId": name.partition("-")[0], "rendering": HD}
        store.update("Project", {**document(name, spec), "status": {"broadcast": {"phase": phase}}})
    store.update("Project", document("one-new", {"collectionId": "one", "rendering": HD}))
    nothing: Any = SimpleNamespace()
    quotas = RunQuotas(per_user=user, per_service=service)
    return World(store, nothing, nothing, nothing, run_quotas=quotas)


def told(world: World) -> str | None:
    entry = world.store.entry("Project", "one-new")
    assert entry
    return used_up(world, entry)


@pytest.mark.parametrize(
    ("on_air", "user", "service", "expected"),
    [
        ({}, some(1), some(1), None),
        ({"two-a": "Waiting"}, some(1), some(), "perUser.broadcasts is 1, of which 1 "),
        ({"two-a": "Starting"}, some(1), some(), "perUser.broadcasts is 1, of which 1 "),
        ({"two-a": "Running"}, some(2), some(), None),
        ({"two-a": "Stopping", "one-b": "Stopped", "one-c": "Archived"}, some(1), some(1), None),
        ({"ben-a": "Running", "far-a": "Running"}, some(1), some(), None),
        ({"ben-a": "Running"}, some(1), some(1), "perService.broadcasts is 1, of which 1 "),
        ({"far-a": "Running"}, some(1), some(1), None),
        ({"two-a": "Running"}, some(0, 2 * PIXELS), some(), None),
        (
            {"two-a": "Running"},
            some(0, 2 * PIXELS - 1),
            some(),
            "perUser.pixelsPerSecond is ",
        ),
        ({"ben-a": "Running"}, some(), some(9, PIXELS), f"perService.pixelsPerSecond is {PIXELS},"),
        ({"two-a": "Running"} | {f"ben-{n}": "Running" for n in range(9)}, some(), some(), None),
    ],
)
def test_runs_of_the_owner_count(
    on_air: dict[str, str], user: RunQuota, service: RunQuota, expected: str | None
) -> None:
    found = told(world_of(on_air, user, service))
    assert (found is None) == (expected is None)
    assert (expected or "") in (found or "")


def test_a_run_counts_from_the_write_of_its_first_record_on_and_once() -> None:
    world = world_of({"two-a": "Stopped"}, some(1), some())
    with world.begins(None):
        assert told(world) is None
    with world.begins("two-a"):
        assert told(world)
        # The watch tells of it before the response is there.
        spec = {"collectionId": "two", "rendering": HD}
        running = {**document("two-a", spec), "status": {"broadcast": {"phase": "Waiting"}}}
        running["metadata"]["resourceVersion"] = "1000000"
        world.store.update("Project", running)
        assert "of which 1 are" in (told(world) or "")
    assert told(world)
    assert not world.beginning


def test_what_begins_itself_does_not_stand_in_its_own_way() -> None:
    world = world_of({}, some(1), some(1))
    with world.begins("one-new"):
        assert told(world) is None
