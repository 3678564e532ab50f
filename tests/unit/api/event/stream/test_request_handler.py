"""A client that asks for much at once."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

from tests.support.recorded_stream import RecordedStream, event_of
from tests.support.shared_sessions import SharedSessions

from onair_api.access.audiences import owner_key
from onair_api.access.target import Target
from onair_api.event.event import Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.replay.replayer import Replayer
from onair_api.event.replay.session_store import SessionStore
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.requests import StreamRequest
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
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


async def test_each_part_of_what_it_missed_that_it_is_not_given_is_told() -> None:
    """The first as the replica started later; by the second the state was read, and more is lost since."""
    own = owner_key("s", "u")
    buffer = ReplayBuffer(60, 100, 10_000)
    buffer.start("Project", Position(5), time.monotonic())
    for number, name in enumerate("abcd", 6):
        buffer.add(event_of(name, number, own), time.monotonic())
    delivery = EventDelivery(buffer, SubscriptionLimits(EventSettings()), bytes_per_owner_s=1)
    nothing = cast(Any, SimpleNamespace())
    replayer = Replayer(buffer, SessionStore(None, lambda: False, 60), 60)
    handler = RequestHandler(nothing, Settings(), nothing, delivery, replayer)
    stream = RecordedStream(own)
    subscriptions = [Subscription(name, Target(), Target()) for name in ("a", "b|c|d")]
    closed = ClosedSession({"Project": Position(1)}, subscriptions, time.monotonic())
    stream.session.resumed = ResumedSession(closed, time.monotonic() + 60)
    for name, told, given in (("a", 1, "a"), ("b|c|d", 2, "ab"), ("a", 2, "ab")):
        await handler.handle(stream.session, StreamRequest(None, "subscribe", {"name": name}))
        assert (stream.losses, stream.names) == (told, [*given])


async def test_one_that_comes_back_while_nobody_can_say_what_it_has_is_told_of_a_loss_once() -> None:
    own = owner_key("s", "u")
    buffer = ReplayBuffer(60, 100, 10_000)
    delivery = EventDelivery(buffer, SubscriptionLimits(EventSettings()))
    nothing, redis = cast(Any, SimpleNamespace()), cast(Any, SharedSessions())
    redis.fails = True
    replayer = Replayer(buffer, SessionStore(redis, lambda: True, 60), 60)
    handler = RequestHandler(nothing, Settings(), nothing, delivery, replayer)
    stream = RecordedStream(own)
    stream.session.resumed = await replayer.resume("s/u", "session")
    for name in ("a", "b"):
        await handler.handle(stream.session, StreamRequest(None, "subscribe", {"name": name}))
        assert stream.losses == 1
