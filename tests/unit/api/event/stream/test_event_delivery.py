"""Which sessions an event is sent to."""

from __future__ import annotations

import time

import pytest
from tests.support.recorded_stream import RecordedStream
from tests.support.waiting import until

from onair_api.access.audiences import owner_key, project_key
from onair_api.access.target import Target
from onair_api.event.event import LAYOUT_FAMILY, LIVE_FAMILY, Event, Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.settings import EventSettings

OWNER, GUESTS = owner_key("s", "u"), project_key("s", "p")


def event(name: str, *audiences: tuple[str, ...], family: str = LIVE_FAMILY, number: int = 1) -> Event:
    return Event(name, b"{}", Target("c", "p"), "Project", Position(number), audiences, family=family)


def subscription(name: str, **ids: str) -> Subscription:
    return Subscription(name, Target(**ids), Target(**ids))


@pytest.fixture
def delivery() -> EventDelivery:
    return EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(EventSettings()))


def test_a_session_gets_an_event_once_however_many_subscriptions_and_audiences_match(
    delivery: EventDelivery,
) -> None:
    stream = RecordedStream(OWNER, GUESTS)
    for name in ("a", "a|b", "*"):
        delivery.add(stream.session, subscription(name))
    delivery.deliver(event("a", OWNER, GUESTS))
    assert stream.names == ["a"]


def test_only_sessions_of_its_audiences_whose_subscriptions_match_get_an_event(
    delivery: EventDelivery,
) -> None:
    owner, guest, other = RecordedStream(OWNER), RecordedStream(GUESTS), RecordedStream(owner_key("s", "v"))
    for stream in (owner, guest, other):
        delivery.add(stream.session, subscription("a*"))
    delivery.deliver(event("ab", OWNER))
    delivery.deliver(event("b", OWNER, GUESTS))
    delivery.deliver(event("ac", OWNER, GUESTS))
    assert (owner.names, guest.names, other.names) == (["ab", "ac"], ["ac"], [])


def test_a_subscription_to_another_project_gets_nothing(delivery: EventDelivery) -> None:
    stream = RecordedStream(OWNER)
    delivery.add(stream.session, subscription("a", collection_id="c", project_id="q"))
    delivery.deliver(event("a", OWNER))
    assert stream.names == []


def test_layout_events_go_to_those_who_may_read_layouts(delivery: EventDelivery) -> None:
    reader, guest = RecordedStream(GUESTS), RecordedStream(GUESTS, sees_layouts=False)
    for stream in (reader, guest):
        delivery.add(stream.session, subscription("*"))
    delivery.deliver(event("layout", GUESTS, family=LAYOUT_FAMILY))
    assert (reader.names, guest.names) == (["layout"], [])


def test_a_session_is_not_sent_what_it_had_on_a_replica_that_was_ahead(delivery: EventDelivery) -> None:
    stream = RecordedStream(OWNER)
    delivery.add(stream.session, subscription("*"))
    closed = ClosedSession({"Project": Position(5)}, [subscription("*")], time.monotonic())
    stream.session.resumed = ResumedSession(closed, time.monotonic() + 60)
    for number in (4, 5, 6):
        delivery.deliver(event(f"e{number}", OWNER, number=number))
    assert stream.names == ["e6"]


def test_nothing_is_kept_of_subscriptions_that_ended(delivery: EventDelivery) -> None:
    stream = RecordedStream(OWNER, GUESTS)
    subscriptions = [subscription(name) for name in ("a", "a|b", "*")]
    for each in subscriptions:
        delivery.add(stream.session, each)
    assert not delivery.idle
    for each in subscriptions:
        delivery.remove(stream.session, each)
    delivery.deliver(event("a", OWNER, GUESTS))
    assert stream.names == []
    assert delivery.idle


def test_what_was_delivered_is_kept_for_its_time() -> None:
    buffer = ReplayBuffer(60, 100, 10_000)
    buffer.start("Project", Position(0), time.monotonic())
    EventDelivery(buffer, SubscriptionLimits(EventSettings())).deliver(event("a", OWNER))
    for later_s, is_kept in ((59, True), (61, False)):
        buffer.add(event("a", OWNER, number=later_s), time.monotonic() + later_s)
        assert buffer.covers("Project", Position(0), 0.0) == is_kept


async def test_an_event_of_unknown_audience_is_told_as_lost_to_all_that_it_may_be_for() -> None:
    buffer = ReplayBuffer(60, 100, 10_000)
    buffer.start("Project", Position(0), time.monotonic())
    delivery = EventDelivery(buffer, SubscriptionLimits(EventSettings()))
    streams = {
        "owner": RecordedStream(OWNER, GUESTS),
        "other": RecordedStream(owner_key("s", "v"), user="v"),
        "of one project": RecordedStream(owner_key("s", "w"), user="w"),
        "of other names": RecordedStream(OWNER),
        "may not read layouts": RecordedStream(GUESTS, sees_layouts=False),
    }
    ids = {"of one project": {"project_id": "q"}}
    for name, stream in streams.items():
        delivery.add(
            stream.session, subscription("b" if name == "of other names" else "a*", **ids.get(name, {}))
        )
    kept = Position(1)
    delivery.deliver(event("a", OWNER))
    for number in (2, 3):
        delivery.lose(event("ab", family=LAYOUT_FAMILY, number=number))
    telling = delivery._turns._task
    assert telling
    await telling
    assert {name: stream.losses for name, stream in streams.items()} == {
        "owner": 1,
        "other": 1,
        "of one project": 1,
        "of other names": 0,
        "may not read layouts": 0,
    }
    assert streams["owner"].names == ["a"]
    assert not buffer.covers("Project", kept, time.monotonic()), "who returns is told too"
    assert buffer.covers("Project", Position(3), time.monotonic())


async def test_that_events_of_a_user_were_lost_is_told_to_all_who_listen_to_them(
    delivery: EventDelivery,
) -> None:
    own, guest, other = RecordedStream(OWNER), RecordedStream(GUESTS), RecordedStream(owner_key("s", "v"))
    for stream, channels in ((own, ("u",)), (guest, ("g", "u")), (other, ("v",))):
        stream.session.channels = channels
        for name in ("a", "b"):
            delivery.add(stream.session, subscription(name))
    delivery.lose_of("u")
    await until(lambda: delivery._turns.idle, "all are told")
    assert [stream.losses for stream in (own, guest, other)] == [1, 1, 0]
    delivery.lose_of("nobody")
    for stream in (own, guest, other):
        for name in ("a", "b"):
            delivery.remove(stream.session, subscription(name))
    assert delivery.idle
