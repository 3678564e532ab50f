"""Long requests of a service take their steps one after the other, through both doors."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.facade import User
from tests.support.layouts import LayoutClient, scene

from onair_crds.runtime import steps
from onair_crds.runtime.steps import SharedPace

ITEMS = 50


@pytest.mark.both_doors
def test_large_batches_of_a_service_have_one_pace(
    canvas: LayoutClient, sign_in: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, paces = SharedPace.turn, Counter[SharedPace]()

    async def counted(pace: SharedPace) -> None:
        paces[pace] += 1
        await turn(pace)

    other = scene(sign_in().project())
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    monkeypatch.setattr(SharedPace, "turn", counted)
    items = [{"create": {"type": "text"}}] * ITEMS

    def batch(client: LayoutClient) -> int:
        return len(client.batch(*items)["layers"])

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(batch, (canvas, other))) == [ITEMS, ITEMS]
    assert len(paces) == 1
    each = paces.total() / (2 * ITEMS)
    assert each >= 4, "a turn for it decoded, applied, in the response, in the event"


def test_what_comes_after_a_large_batch_is_written_after_it(
    canvas: LayoutClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = canvas.add("text", x=0)["id"]
    decoding, overtaken = threading.Event(), threading.Event()

    async def held_up(pace: SharedPace) -> None:
        """Until the later request is answered, were it to overtake this one."""
        decoding.set()
        await asyncio.to_thread(overtaken.wait, 0.5)
        overtaken.set()

    def later() -> object:
        x = canvas.patch(layer, x=2)["x"]
        overtaken.set()
        return x

    monkeypatch.setattr(steps, "STEP_S", -1.0)
    monkeypatch.setattr(SharedPace, "turn", held_up)
    items = [{"update": {"id": layer, "x": 1}}, *[{"create": {"type": "text"}}] * ITEMS]
    with ThreadPoolExecutor(2) as threads:
        batch = threads.submit(canvas.batch, *items)
        assert decoding.wait(10)
        assert (threads.submit(later).result(), batch.result()["layers"][0]["update"]["x"]) == (2, 1)
    assert canvas.layer(layer)["x"] == 2
