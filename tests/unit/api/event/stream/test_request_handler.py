"""A client that asks for much at once."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from tests.support.recorded_stream import RecordedStream

from onair_api.access.audiences import owner_key
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.requests import StreamRequest
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.settings import EventSettings, Settings


async def test_others_have_a_turn_between_two_requests_of_a_stream() -> None:
    """A query may hold hundreds of them, of which none has to wait for anything."""
    delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(EventSettings()))
    nothing = cast(Any, SimpleNamespace())
    handler = RequestHandler(nothing, Settings(), nothing, delivery, nothing)
    stream, turns = RecordedStream(owner_key("s", "u")), 0

    async def ask() -> None:
        asked = [StreamRequest(None, "subscribe", {"name": f"{number}*"}) for number in range(50)]
        await handler.handle_first(stream.session, asked)

    asking = asyncio.create_task(ask())
    while not asking.done():
        turns += 1
        await asyncio.sleep(0)
    assert len(stream.session.subscriptions) == 50
    assert turns >= 50
