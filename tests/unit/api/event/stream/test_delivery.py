"""Which sessions an event is sent to."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from onair_api.access.audiences import Visibility, owner_key, project_key
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.event.event import LAYOUT_FAMILY, LIVE_FAMILY, Event, Format, Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.delivery import Delivery
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.settings import EventSettings
from onair_crds.resources.enums import Role

OWNER, GUESTS = owner_key("s", "u"), project_key("s", "p")


class Sender:
    format = Format.NDJSON
    loss_message: Callable[[], bytes]

    def __init__(self) -> None:
        self.events: list[Event] = []

    def push(self, frame: bytes, event: Event | None = None) -> None:
        if event:
            self.events.append(event)

    def unsent(self) -> list[Event]:
        return []

    def stalled_s(self, now: float) -> float:
        return 0.0

    def abort(self) -> None: ...

    def end(self, code: int, reason: str) -> None: ...


class Stream:
    """A session, and what it was sent."""

    def __init__(self, *keys: tuple[str, ...], sees_layouts: bool = True) -> None:
        self._sender = Sender()
        identity = Identity("s", "u", "u", Role.HOST, ())
        self.session = Session("id", identity, Visibility("u", keys, sees_layouts), "token", self._sender)

    @property
    def names(self) -> list[str]:
        return [event.name for event in self._sender.events]


def event(name: str, *audiences: tuple[str, ...], family: str = LIVE_FAMILY, number: int = 1) -> Event:
    return Event(name, b"{}", Target("c", "p"), "Project", Position(number), audiences, family=family)


def subscription(name: str, **ids: str) -> Subscription:
    return Subscription(name, Target(**ids), Target(**ids))


@pytest.fixture
def delivery() -> Delivery:
    return Delivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(EventSettings()))


def test_a_session_gets_an_event_once_however_many_subscriptions_and_audiences_match(
    delivery: Delivery,
) -> None:
    stream = Stream(OWNER, GUESTS)
    for name in ("a", "a|b", "*"):
        delivery.add(stream.session, subscription(name))
    delivery.deliver(event("a", OWNER, GUESTS))
    assert stream.names == ["a"]


def test_only_sessions_of_its_audiences_whose_subscriptions_match_get_an_event(delivery: Delivery) -> None:
    owner, guest, other = Stream(OWNER), Stream(GUESTS), Stream(owner_key("s", "v"))
    for stream in (owner, guest, other):
        delivery.add(stream.session, subscription("a*"))
    delivery.deliver(event("ab", OWNER))
    delivery.deliver(event("b", OWNER, GUESTS))
    delivery.deliver(event("ac", OWNER, GUESTS))
    assert (owner.names, guest.names, other.names) == (["ab", "ac"], ["ac"], [])


def test_a_subscription_to_another_project_gets_nothing(delivery: Delivery) -> None:
    stream = Stream(OWNER)
    delivery.add(stream.session, subscription("a", collection_id="c", project_id="q"))
    delivery.deliver(event("a", OWNER))
    assert stream.names == []


def test_layout_events_go_to_those_who_may_read_layouts(delivery: Delivery) -> None:
    reader, guest = Stream(GUESTS), Stream(GUESTS, sees_layouts=False)
    for stream in (reader, guest):
        delivery.add(stream.session, subscription("*"))
    delivery.deliver(event("layout", GUESTS, family=LAYOUT_FAMILY))
    assert (reader.names, guest.names) == (["layout"], [])


def test_a_session_is_not_sent_what_it_had_on_a_replica_that_was_ahead(delivery: Delivery) -> None:
    stream = Stream(OWNER)
    delivery.add(stream.session, subscription("*"))
    closed = ClosedSession({"Project": Position(5)}, [subscription("*")], time.time())
    stream.session.resumed = ResumedSession(closed, time.monotonic() + 60)
    for number in (4, 5, 6):
        delivery.deliver(event(f"e{number}", OWNER, number=number))
    assert stream.names == ["e6"]


def test_nothing_is_kept_of_subscriptions_that_ended(delivery: Delivery) -> None:
    stream = Stream(OWNER, GUESTS)
    subscriptions = [subscription(name) for name in ("a", "a|b", "*")]
    for each in subscriptions:
        delivery.add(stream.session, each)
    assert not delivery.idle
    for each in subscriptions:
        delivery.remove(stream.session, each)
    delivery.deliver(event("a", OWNER, GUESTS))
    assert stream.names == []
    assert delivery.idle
