"""Layer updates while Redis is frozen: only those with more than a difference shows wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, User
from tests.support.layouts import LayoutClient, layout
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.event.changes.event_details import LOOKUP_TIMEOUT_S, EventDetails
from onair_crds.shapes import JsonObject

ANIMATION = [{"properties": ["x"], "durationMs": 300}]


@dataclass
class FollowedLayer:
    """A layer whose updates its host follows."""

    host: User
    canvas: LayoutClient
    layer_id: str
    stream: WebSocket

    def patch(self, **body: Any) -> None:
        self.canvas.patch(self.layer_id, **body)

    def next(self) -> JsonObject:
        (result,) = events_of(self.stream, 1)
        return result["event"]["payload"]["layer"]["update"]  # type: ignore[no-any-return]

    def drag(self, x: int) -> float:
        """Seconds from a plain update to its event."""
        started = time.monotonic()
        self.patch(x=x)
        assert self.next()["x"] == x
        return time.monotonic() - started


@pytest.fixture
def layer(own: FacadeThread, sign_in: SignIn) -> Iterator[FollowedLayer]:
    host = sign_in(facade=own)
    canvas = layout(host.project())
    layer_id = canvas.add(x=0)["id"]
    with WebSocket(own, host.token) as stream:
        stream.subscribe("*:EVENT_TYPE_LAYER:EVENT_SUB_TYPE_UPDATE", layoutId=canvas.id)
        yield FollowedLayer(host, canvas, layer_id, stream)


async def test_a_process_that_does_not_run_for_a_while_finds_what_redis_has_answered(redis_url: str) -> None:
    # The connection of the second one is yet to be made, which takes several steps
    async with Redis.from_url(redis_url) as writing, Redis.from_url(redis_url) as reading:
        assert await EventDetails(writing, lambda: True).keep("busy", {"batch": {"layers": []}})
        finding = asyncio.create_task(EventDetails(reading, lambda: True).find("busy"))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(time.sleep, 2 * LOOKUP_TIMEOUT_S)
        assert await finding == {"batch": {"layers": []}}


def test_a_plain_drag_does_not_wait_for_a_frozen_redis(
    own: FacadeThread, redis: RedisServer, layer: FollowedLayer
) -> None:
    redis.freeze()
    latencies = [layer.drag(x) for x in range(1, 6)]
    assert own.bus.connected, "nobody noticed that Redis is frozen"
    assert min(latencies) < LOOKUP_TIMEOUT_S, "a lookup would have cost each of them this much"
    redis.thaw()
    wait_for(lambda: publishes(layer.host), "Redis works again")
    layer.patch(x=9, requestAnimation=ANIMATION)
    animated = layer.next()
    assert (animated["x"], animated["requestAnimation"][0]["durationMs"]) == (9, 300)


def test_an_animated_update_arrives_without_its_animation_when_redis_freezes(
    redis: RedisServer, layer: FollowedLayer
) -> None:
    redis.freeze()
    layer.patch(x=1, requestAnimation=ANIMATION)
    update = layer.next()
    assert (update["x"], update["requestAnimation"]) == (1, [])
