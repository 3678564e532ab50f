"""Layer updates while Redis is frozen or gone: who waits for it, and who does not even need it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.fixtures.facade import STREAMS, redis_connected
from tests.support.layouts import LayoutClient, layout
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.event.changes.event_details import TIMEOUT_S, EventDetails
from onair_api.event.custom.counted_values import CountedValues
from onair_api.redis_keys import DEFAULT_KEYS
from onair_api.settings import RedisSettings
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
        return update_in(self.stream)

    def drag(self, x: int) -> float:
        """Seconds from a plain update to its event."""
        started = time.monotonic()
        self.patch(x=x)
        assert self.next()["x"] == x
        return time.monotonic() - started


def update_in(stream: WebSocket) -> JsonObject:
    """The next event of a stream, which is a layer's update."""
    (result,) = events_of(stream, 1)
    return result["event"]["payload"]["layer"]["update"]  # type: ignore[no-any-return]


@contextmanager
def following(facade: FacadeThread, host: User, canvas: LayoutClient) -> Iterator[WebSocket]:
    """A stream of what happens to a layout's layers."""
    with WebSocket(facade, host.token) as stream:
        stream.subscribe("*:EVENT_TYPE_LAYER:*", layoutId=canvas.id)
        yield stream


@pytest.fixture
def layer(own: FacadeThread, sign_in: SignIn) -> Iterator[FollowedLayer]:
    host = sign_in(facade=own)
    canvas = layout(host.project())
    layer_id = canvas.add(x=0)["id"]
    with following(own, host, canvas) as stream:
        yield FollowedLayer(host, canvas, layer_id, stream)


@pytest.fixture
def other(start_facade: StartFacade, redis: RedisServer) -> Iterator[FacadeThread]:
    """Another replica with the same Redis."""
    with start_facade(redis=RedisSettings(url=redis.url), events=STREAMS) as facade:
        wait_for(lambda: redis_connected(facade), "Redis is connected")
        yield facade


async def test_a_process_that_does_not_run_for_a_while_finds_what_redis_has_answered(redis_url: str) -> None:
    # The connection of the second one is yet to be made, which takes several steps
    async with Redis.from_url(redis_url) as writing, Redis.from_url(redis_url) as reading:
        values = (CountedValues(each, DEFAULT_KEYS, 10_000) for each in (writing, reading))
        wrote, other = (EventDetails(each, lambda: True) for each in values)
        assert await wrote.keep("busy", {"batch": {"layers": []}}, "s")
        finding = asyncio.create_task(other.find("busy"))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(time.sleep, 2 * TIMEOUT_S)
        assert await finding == {"batch": {"layers": []}}


def test_a_plain_drag_does_not_wait_for_a_frozen_redis(
    own: FacadeThread, redis: RedisServer, layer: FollowedLayer, other: FacadeThread
) -> None:
    redis.freeze()
    latencies = [layer.drag(x) for x in range(1, 6)]
    assert own.bus.connected, "nobody noticed that Redis is frozen"
    assert min(latencies) < TIMEOUT_S, "a lookup would have cost each of them this much"
    redis.thaw()
    wait_for(lambda: publishes(layer.host), "Redis works again")
    wait_for(lambda: redis_connected(other), "Redis is connected")
    with following(other, layer.host, layer.canvas) as elsewhere:
        layer.patch(x=9, requestAnimation=ANIMATION)
        for animated in (layer.next(), update_in(elsewhere)):
            assert (animated["x"], animated["requestAnimation"][0]["durationMs"]) == (9, 300)


def test_an_animated_update_loses_its_animation_in_other_replicas_alone_when_redis_freezes(
    redis: RedisServer, layer: FollowedLayer, other: FacadeThread
) -> None:
    with following(other, layer.host, layer.canvas) as elsewhere:
        redis.freeze()
        layer.patch(x=1, requestAnimation=ANIMATION)
        update = layer.next()
        assert (update["x"], update["requestAnimation"][0]["durationMs"]) == (1, 300)
        update = update_in(elsewhere)
        assert (update["x"], update["requestAnimation"]) == (1, [])


def test_a_batch_is_one_event_where_it_was_made_while_there_is_no_redis(
    own: FacadeThread, redis: RedisServer, layer: FollowedLayer, other: FacadeThread
) -> None:
    with following(other, layer.host, layer.canvas) as elsewhere:
        redis.stop()
        wait_for(lambda: not redis_connected(own) and not redis_connected(other), "Redis is unreachable")
        layer.canvas.batch({"update": {"id": layer.layer_id, "x": 5}}, {"create": {"type": "square"}})
        (result,) = events_of(layer.stream, 1)
        batch = result["event"]["payload"]["layer"]["batch"]
        assert [sorted(each) for each in batch["layers"]] == [["update"], ["create"]]
        single = [each["event"]["payload"]["layer"] for each in events_of(elsewhere, 2)]
        assert [sorted(each) for each in single] == [["update"], ["create"]]
        assert single[0]["update"]["x"] == 5
