"""Flapping writes one Event with a count, a few times at once; the end of an operator waits for little."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from tests.support.worlds import destination, project

from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster import event_budget, event_recorder
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.event_budget import BURST
from onair_operator.cluster.event_recorder import EventRecorder

FLAP = ResourceEvent(project(), "DestinationDisconnected", "destination main: connection reset", warning=True)


class EventApiServer:
    def __init__(self) -> None:
        self.events: dict[str, Document] = {}
        self.writes = 0
        self.hangs = False

    async def create(self, _: Api, __: str, document: Document) -> Document:
        self.writes += 1
        if self.hangs:
            await asyncio.Event().wait()
        self.events[document["metadata"]["name"]] = document
        return document

    async def merge_patch(self, _: Api, __: str, name: str, patch: Document) -> Document:
        self.writes += 1
        if name not in self.events:
            raise ApiError(404, "NotFound", "not found")
        self.events[name] |= patch
        return self.events[name]


@pytest.fixture
def api() -> EventApiServer:
    return EventApiServer()


def recorder(api: EventApiServer) -> EventRecorder:
    return EventRecorder(cast(Any, api), "shows", "test")


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_flapping_is_one_event_with_a_count(api: EventApiServer) -> None:
    events = recorder(api)
    for number in range(1, 33):
        events.record(FLAP)
        await turns()
        assert api.writes == min(number, BURST)
    await events.drain()
    assert api.writes == BURST + 1
    (written,) = api.events.values()
    assert (written["count"], written["reason"], written["type"]) == (
        32,
        "DestinationDisconnected",
        "Warning",
    )


async def test_an_event_that_has_expired_is_written_anew(api: EventApiServer) -> None:
    events = recorder(api)
    events.record(FLAP)
    await turns()
    api.events.clear()
    events.record(FLAP)
    await events.drain()
    (written,) = api.events.values()
    assert written["count"] == 2


async def test_the_end_does_not_wait_for_an_api_server_that_hangs(
    api: EventApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_recorder, "DRAIN_S", 0.05)
    api.hangs = True
    events = recorder(api)
    events.record(FLAP)
    async with asyncio.timeout(5):
        await events.drain()
    await turns()
    assert not events._tasks


async def test_many_that_flap_while_the_api_server_hangs_do_not_pile_up(
    api: EventApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_budget, "NEW_BURST", 5)
    monkeypatch.setattr(event_budget, "NEW_PER_S", 0.001)
    monkeypatch.setattr(event_recorder, "DRAIN_S", 0.05)
    api.hangs = True
    events = recorder(api)
    for _ in range(3):
        for number in range(50):
            events.record(ResourceEvent(destination(f"d{number}"), "Disconnected", "refused", warning=True))
        await turns()
    assert len(events._tasks) == len(events._newest) == 6, "one for each of the burst, and one for all others"
    await events.drain()


async def test_an_event_that_resources_share_is_of_the_first_and_names_the_newest(
    api: EventApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_budget, "NEW_BURST", 0)
    events = recorder(api)
    for name in ("first", "second"):
        events.record(ResourceEvent(destination(name), "Disconnected", "refused", warning=True))
    await events.drain()
    ((name, written),) = api.events.items()
    assert name.startswith("first.")
    assert written["involvedObject"]["name"] == "first"
    assert written["count"] == 2
    assert written["message"].endswith("Destination second: refused")
