"""Layers that many change at once, or often: no change is lost, nothing falls behind."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import httpx
import pytest
from tests.support.facade import FacadeThread
from tests.support.layouts import LayoutClient
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

RATE_PER_S = 30
UPDATES = 60
LAG_S = 3.0
"""An update may be answered this late on a machine that does other things too; without the queue joining
updates a drag on 500 layers is tens of seconds late."""


def tree_of(canvas: LayoutClient) -> dict[str, list[str]]:
    """Children by layer; fails where parents and children disagree, or a layer is unreachable in a cycle."""
    layers = {each["id"]: each for each in canvas.layers()}
    for layer_id, layer in layers.items():
        for child in layer["children"]:
            assert layers[child]["parentId"] == layer_id
        seen: set[str] = set()
        above = layer_id
        while "parentId" in layers[above]:
            assert above not in seen, "a cycle"
            seen.add(above)
            parent = layers[above]["parentId"]
            assert above in layers[parent]["children"]
            above = parent
    return {layer_id: layer["children"] for layer_id, layer in layers.items()}


def test_moves_through_two_replicas_end_in_a_valid_tree(
    canvas: LayoutClient, second_facade: FacadeThread
) -> None:
    root = canvas.root()
    other = canvas.through(second_facade)
    a, b, *rest = (
        item["create"]["id"]
        for item in canvas.batch(*({"create": {"type": "box", "parentId": root}} for _ in range(8)))["layers"]
    )
    wait_for(lambda: len(other.layers()) == 9, "the other replica sees the layers")

    def move(step: int) -> httpx.Response:
        via, layer = (canvas, other)[step % 2], rest[step % len(rest)]
        body = {"parentId": (a, b, root)[step % 3]} if step % 5 else {"children": [(a, b)[step % 2]]}
        return via.call("PATCH", f"/layers/{layer}", body)

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(move, range(48)))
    assert {response.status_code for response in responses} <= {200, 400}, (
        "a cycle is refused, others are done"
    )
    assert sum(response.status_code == 200 for response in responses) >= 24
    assert len(tree_of(canvas)) == 9
    wait_for(lambda: tree_of(canvas) == tree_of(other), "both replicas agree")


def test_two_who_put_layers_into_each_other(canvas: LayoutClient, second_facade: FacadeThread) -> None:
    root, other = canvas.root(), canvas.through(second_facade)

    def sees(layer: str) -> bool:
        return other.call("GET", f"/layers/{layer}").is_success

    for _ in range(5):
        a, b = (canvas.add("box", parentId=root)["id"] for _ in range(2))
        wait_for(partial(sees, b), "the other replica sees the layers")
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(canvas.call, "PATCH", f"/layers/{a}", {"parentId": b})
            two = pool.submit(other.call, "PATCH", f"/layers/{b}", {"parentId": a})
            assert sorted((one.result().status_code, two.result().status_code)) == [200, 400]
        tree = tree_of(canvas)
        assert (tree[a], tree[b]) in (([b], []), ([], [a]))


def test_changes_of_different_fields_through_two_replicas_all_survive(
    canvas: LayoutClient, second_facade: FacadeThread
) -> None:
    layer, other = canvas.add("box")["id"], canvas.through(second_facade)
    wait_for(lambda: other.call("GET", f"/layers/{layer}").is_success, "the other replica sees the layer")
    changes: JsonObject = {"x": 1, "y": 2, "width": 3, "height": 4, "rotation": 5, "opacity": 0.5, "scale": 2}
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit((canvas, other)[n % 2].call, "PATCH", f"/layers/{layer}", {name: value})
            for n, (name, value) in enumerate(changes.items())
        ]
        assert {call.result().status_code for call in calls} == {200}

    def has_all(seen: LayoutClient) -> bool:
        return changes.items() <= seen.layer(layer).items()

    for each in (canvas, other):
        wait_for(partial(has_all, each), "all changes are seen")


@dataclass
class SentUpdate:
    """One update of a drag: monotonic times, and its response."""

    due: float
    sent: float
    answered: float
    response: JsonObject


async def drag(canvas: LayoutClient, layer: str) -> list[SentUpdate]:
    """Sends `UPDATES` at `RATE_PER_S` side by side, waiting for no response."""
    url = f"{canvas.user.facade.url}{canvas.path}/layers/{layer}"
    start = time.monotonic()
    async with httpx.AsyncClient(headers=canvas.user.headers, trust_env=False, timeout=60) as client:

        async def send(number: int) -> SentUpdate:
            due = start + number / RATE_PER_S
            await asyncio.sleep(due - time.monotonic())
            sent = time.monotonic()
            response = await client.patch(url, json={"x": number, "y": 2 * number})
            assert response.status_code == 200, response.text
            return SentUpdate(due, sent, time.monotonic(), response.json())

        return await asyncio.gather(*(send(number) for number in range(UPDATES)))


@pytest.mark.parametrize("layers", [20, 500])
def test_a_drag_does_not_fall_behind(canvas: LayoutClient, layers: int) -> None:
    root = canvas.root()
    item = {"type": "text", "parentId": root, "data": {"text": "Good evening"}, "x": 1, "y": 1}
    made = canvas.batch(*({"create": item} for _ in range(layers - 1)))["layers"]
    layer = made[layers // 2]["create"]["id"]
    updates = asyncio.run(drag(canvas, layer))
    assert max(each.answered - each.due for each in updates) < LAG_S
    assert [(u.response["x"], u.response["y"]) for u in updates] == [(n, 2 * n) for n in range(UPDATES)]
    last = updates[canvas.layer(layer)["x"]]
    assert last.answered >= max(each.sent for each in updates), "an update that was sent later is lost"
    assert len(canvas.children(root)) == layers - 1


def test_an_update_after_a_drag_is_the_last(canvas: LayoutClient) -> None:
    layer = canvas.add("box")["id"]
    asyncio.run(drag(canvas, layer))
    canvas.call("PATCH", f"/layers/{layer}", {"x": 7_000}).raise_for_status()
    assert canvas.layer(layer)["x"] == 7_000
