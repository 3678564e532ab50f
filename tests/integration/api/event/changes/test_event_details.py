"""Layer updates while Redis is frozen: only those with more than a difference shows wait for it."""

from __future__ import annotations

import time

from tests.support.event_client import SignIn, WebSocket, events_of, publishes
from tests.support.facade import Facade, wait_for
from tests.support.layouts import Canvas, layout
from tests.support.redis_server import RedisServer

from onair_api.event.changes.event_details import LOOKUP_TIMEOUT_S
from onair_crds.shapes import JsonObject

ANIMATION = [{"properties": ["x"], "durationMs": 300}]


def next_update(stream: WebSocket) -> JsonObject:
    (result,) = events_of(stream, 1)
    return result["event"]["payload"]["layer"]["update"]  # type: ignore[no-any-return]


def drag(canvas: Canvas, stream: WebSocket, layer_id: str, x: int) -> float:
    """Seconds from a plain update to its event."""
    started = time.monotonic()
    canvas.patch(layer_id, x=x)
    assert next_update(stream)["x"] == x
    return time.monotonic() - started


def test_a_plain_drag_does_not_wait_for_a_frozen_redis(
    own: Facade, redis: RedisServer, sign_in: SignIn
) -> None:
    host = sign_in(facade=own)
    canvas = layout(host.project())
    layer_id = canvas.add(x=0)["id"]
    with WebSocket(own, host.token) as stream:
        stream.subscribe("*:EVENT_TYPE_LAYER:EVENT_SUB_TYPE_UPDATE", layoutId=canvas.id)
        redis.freeze()
        latencies = [drag(canvas, stream, layer_id, x) for x in range(1, 6)]
        assert own.services.events.bus.connected, "nobody noticed that Redis is frozen"
        assert min(latencies) < LOOKUP_TIMEOUT_S, "a lookup would have cost each of them this much"
        redis.thaw()
        wait_for(lambda: publishes(host), "Redis works again")
        canvas.patch(layer_id, x=9, requestAnimation=ANIMATION)
        animated = next_update(stream)
        assert (animated["x"], animated["requestAnimation"][0]["durationMs"]) == (9, 300)


def test_an_animated_update_arrives_without_its_animation_when_redis_freezes(
    own: Facade, redis: RedisServer, sign_in: SignIn
) -> None:
    host = sign_in(facade=own)
    canvas = layout(host.project())
    layer_id = canvas.add(x=0)["id"]
    with WebSocket(own, host.token) as stream:
        stream.subscribe("*:EVENT_TYPE_LAYER:EVENT_SUB_TYPE_UPDATE", layoutId=canvas.id)
        redis.freeze()
        canvas.patch(layer_id, x=1, requestAnimation=ANIMATION)
        update = next_update(stream)
        assert (update["x"], update["requestAnimation"]) == (1, [])
