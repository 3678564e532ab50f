"""What goes to many streams does not hold up those of others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.support.recorded_stream import RecordedStream, event_of

from onair_api.access.audiences import owner_key
from onair_api.access.target import Target
from onair_api.event.event import Position
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream import fair_turns
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.metrics import EVENTS_DROPPED
from onair_api.settings import EventSettings

MANY = 4 * fair_turns.AT_ONCE
ALL = Subscription("*", Target(), Target())


class StreamOwner:
    """A user with streams that take everything."""

    def __init__(self, delivery: EventDelivery, name: str, streams: int) -> None:
        self.key = owner_key("s", name)
        self.streams = [RecordedStream(self.key, user=name) for _ in range(streams)]
        self._delivery, self._number = delivery, 0
        for each in self.streams:
            delivery.add(each.session, ALL)

    def change(self, *names: str) -> None:
        for name in names:
            self._number += 1
            self._delivery.deliver(event_of(name, self._number, self.key))

    @property
    def complete(self) -> int:
        """How many streams have as much as the one that has most."""
        most = max(len(each.names) for each in self.streams)
        return sum(len(each.names) == most for each in self.streams) if most else 0


def delivery_with(bytes_per_owner_s: int) -> EventDelivery:
    buffer = ReplayBuffer(60, 10_000, 1 << 30)
    return EventDelivery(buffer, SubscriptionLimits(EventSettings()), bytes_per_owner_s)


@pytest.fixture
def delivery() -> EventDelivery:
    return delivery_with(0)


async def turns_until(condition: Callable[[], bool]) -> None:
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("it does not come to that")


async def delivered(delivery: EventDelivery) -> None:
    await turns_until(lambda: delivery._turns.idle)


async def test_few_get_an_event_at_once_while_many_of_another_wait(delivery: EventDelivery) -> None:
    crowd, one = StreamOwner(delivery, "crowd", MANY), StreamOwner(delivery, "one", 1)
    crowd.change(*map(str, range(50)))
    one.change("mine")
    assert one.streams[0].names == ["mine"]
    assert crowd.complete == 0
    await delivered(delivery)
    assert all(each.names == [str(n) for n in range(50)] for each in crowd.streams)


async def test_a_turn_ends_however_much_waits(
    delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "TURN_S", 0.0)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert 0 < crowd.complete <= 2 * fair_turns.STEP


async def test_owners_take_turns(delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "TURN_S", 0.0)
    first, second = StreamOwner(delivery, "first", MANY), StreamOwner(delivery, "second", MANY)
    first.change(*"abcdefgh")
    second.change("a")
    await turns_until(lambda: second.complete == MANY)
    assert len(first.streams[-1].names) <= 1, "it has had no more turns than the other"
    await delivered(delivery)


async def test_an_owner_beyond_their_bandwidth_waits_and_another_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step is more than their bandwidth of some seconds."""
    monkeypatch.setattr(fair_turns, "TURN_S", 0.0)
    delivery = delivery_with(bytes_per_owner_s=1)
    crowd, other = StreamOwner(delivery, "crowd", MANY), StreamOwner(delivery, "other", MANY)
    crowd.change("a", "b")
    await turns_until(lambda: bool(crowd.complete))
    for _ in range(100):
        await asyncio.sleep(0)
    sent = [["a"]] * fair_turns.STEP + [[]] * (MANY - fair_turns.STEP)
    assert [each.names for each in crowd.streams] == sent
    other.change("mine")
    await turns_until(lambda: other.complete == fair_turns.STEP)
    assert [each.names for each in crowd.streams] == sent
    last = crowd.streams[-1]
    last.session.closed = True
    assert [event.name for event in delivery.unsent(last.session).events] == ["a", "b"]


def test_bandwidth_is_that_of_a_second_at_once_and_then_as_it_comes() -> None:
    bandwidth, owner = fair_turns._Bandwidth(1000), ("s", "u")
    bandwidth.spend(owner, 1000, now=50.0)
    assert bandwidth.wait_s(owner, 50.0) == 0
    bandwidth.spend(owner, 500, now=50.0)
    assert bandwidth.wait_s(owner, 50.0) == 0.5
    assert bandwidth.wait_s(owner, 50.5) == 0
    assert bandwidth.wait_s(("s", "another"), 50.0) == 0
    bandwidth.spend(owner, 3000, now=100.0)
    assert bandwidth.wait_s(owner, 100.0) == 2, "no more than a second was saved up"


def test_bandwidth_keeps_nothing_of_owners_that_are_sent_nothing() -> None:
    bandwidth = fair_turns._Bandwidth(1000)
    for number in range(10_000):
        bandwidth.spend(("s", str(number)), 10, now=float(number))
    assert len(bandwidth._from) <= 64


def test_there_is_no_limit_by_default() -> None:
    bandwidth, owner = fair_turns._Bandwidth(0), ("s", "u")
    bandwidth.spend(owner, 1 << 40, now=1.0)
    assert bandwidth.wait_s(owner, 1.0) == 0
    assert not bandwidth._from


async def test_order_is_kept_for_a_stream_that_waits(delivery: EventDelivery) -> None:
    """An event for few of an owner's streams waits behind one for all of them."""
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("all")
    last = crowd.streams[-1]
    for each in crowd.streams[:-1]:
        delivery.remove(each.session, ALL)
    crowd.change("few")
    assert last.names == []
    await delivered(delivery)
    assert last.names == ["all", "few"]


async def test_a_stream_that_unsubscribes_has_had_all_that_came_before(delivery: EventDelivery) -> None:
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a", "b")
    last = crowd.streams[-1]
    delivery.remove(last.session, ALL)
    assert last.names == ["a", "b"]
    await delivered(delivery)
    assert last.names == ["a", "b"]


async def test_a_stream_that_unsubscribes_is_told_of_a_loss_that_waited_for_it(
    delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "MAX_DELIVERIES", 3 * MANY)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change(*"abcd")
    last = crowd.streams[-1]
    delivery.remove(last.session, ALL)
    assert (last.losses, last.names) == (1, ["d"])
    await delivered(delivery)
    assert (last.losses, last.names) == (1, ["d"])


async def test_what_is_sent_as_streams_unsubscribe_is_out_of_their_owners_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two events are more than they have in some seconds: the first stream has them, the second no more."""
    monkeypatch.setattr(fair_turns, "TURN_S", 0.0)
    delivery = delivery_with(bytes_per_owner_s=1)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a", "b")
    first, second = crowd.streams[-2:]
    before = dropped()
    for each in (first, second):
        delivery.remove(each.session, ALL)
    assert [(each.losses, each.names) for each in (first, second)] == [(0, ["a", "b"]), (1, [])]
    assert dropped() == before + 2
    for _ in range(100):
        await asyncio.sleep(0)
    assert crowd.complete == 1, "turns wait for what was sent"


async def test_a_stream_that_closes_comes_back_to_what_waited_for_it(delivery: EventDelivery) -> None:
    crowd = StreamOwner(delivery, "crowd", MANY)
    last = crowd.streams[-1]
    closed = ClosedSession({"Project": Position(1)}, [ALL], 0.0)
    last.session.resumed = ResumedSession(closed, 1e12)
    crowd.change("had elsewhere", "b")
    last.session.closed = True
    assert [event.name for event in delivery.unsent(last.session).events] == ["b"]
    await delivered(delivery)
    assert last.names == []


async def test_a_stream_that_closes_before_it_is_told_of_a_loss_comes_back_to_that(
    delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "MAX_DELIVERIES", 3 * MANY)
    crowd = StreamOwner(delivery, "crowd", MANY)
    last = crowd.streams[-1]
    crowd.change(*"abc")
    assert not delivery.unsent(crowd.streams[0].session).loss
    crowd.change("d")
    last.session.closed = True
    unsent = delivery.unsent(last.session)
    assert ([event.name for event in unsent.events], unsent.loss) == (["d"], True)
    await delivered(delivery)
    assert (last.losses, last.names) == (0, [])


async def test_what_a_stream_missed_is_out_of_its_owners_bandwidth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two events are more than they have in some seconds: what follows is lost to it, and turns wait."""
    monkeypatch.setattr(fair_turns, "TURN_S", 0.0)
    delivery = delivery_with(bytes_per_owner_s=1)
    crowd = StreamOwner(delivery, "crowd", MANY)
    first, other = crowd.streams[0], StreamOwner(delivery, "other", 1).streams[0]
    assert delivery.send_missed(first.session, [])
    assert not delivery.send_missed(first.session, [event_of(name) for name in "abc"])
    assert first.names == ["a", "b"]
    assert delivery.send_missed(other.session, [event_of("a")])
    crowd.change("d")
    for _ in range(100):
        await asyncio.sleep(0)
    assert not any("d" in each.names for each in crowd.streams), "turns wait for what was sent"


async def test_what_waits_for_its_turn_comes_before_what_a_stream_missed(delivery: EventDelivery) -> None:
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a")
    last = crowd.streams[-1]
    assert delivery.send_missed(last.session, [event_of("b")])
    assert last.names == ["a", "b"]
    await delivered(delivery)
    assert last.names == ["a", "b"]


async def test_events_for_the_same_streams_keep_them_once(delivery: EventDelivery) -> None:
    """So a thousand that close while hundreds of events wait are not numbered again for each."""
    crowd, closing = StreamOwner(delivery, "crowd", MANY), 10
    crowd.change(*"abc")
    for each in crowd.streams[:closing]:
        each.session.closed = True
        assert len(delivery.unsent(each.session).events) == 3
    (queue,) = delivery._turns._queues.values()
    assert len({id(each.receivers) for each in queue.waiting}) == 1
    for each in crowd.streams[:closing]:
        delivery.remove(each.session, ALL)
    crowd.change("d")
    await delivered(delivery)
    assert [each.names for each in crowd.streams[:closing]] == [[]] * closing
    assert [each.names for each in crowd.streams[closing:]] == [[*"abcd"]] * (MANY - closing)


async def test_too_much_is_lost_and_told_once(
    delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "MAX_DELIVERIES", 3 * MANY)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a", "b", "c", "d")
    await delivered(delivery)
    assert all((each.losses, each.names) == (1, ["d"]) for each in crowd.streams)


async def test_what_is_lost_is_counted_without_what_was_taken_or_sent(
    delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "MAX_DELIVERIES", 3 * MANY)
    monkeypatch.setattr(fair_turns, "TURN_S", 0)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a", "b", "c")
    await turns_until(lambda: sum(each.names == ["a"] for each in crowd.streams) == fair_turns.STEP)
    last = crowd.streams[-1]
    last.session.closed = True
    assert len(delivery.unsent(last.session).events) == 3
    before = dropped()
    crowd.change("d")
    assert dropped() - before == 3 * (MANY - 1) - fair_turns.STEP
    await delivered(delivery)
    assert {each.losses for each in crowd.streams[:-1]} == {1}
    assert not last.losses


def dropped() -> float:
    return EVENTS_DROPPED.labels("too_many")._value.get()  # type: ignore[no-any-return]


async def test_too_many_bytes_are_lost(delivery: EventDelivery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "MAX_BYTES", 5)
    crowd = StreamOwner(delivery, "crowd", MANY)
    crowd.change("a", "b", "c")
    await delivered(delivery)
    assert all((each.losses, each.names) == (1, ["c"]) for each in crowd.streams)


async def test_what_waits_comes_before_a_loss_that_is_told_later(delivery: EventDelivery) -> None:
    crowd, one = StreamOwner(delivery, "crowd", MANY), StreamOwner(delivery, "one", 1)
    crowd.change("a")
    for _ in range(3):
        delivery.lose(event_of("b", 2))
    crowd.change("c")
    delivery.lose(event_of("d", 4))
    await delivered(delivery)
    assert all((each.names, each.losses) == (["a", "c"], 2) for each in crowd.streams)
    assert (one.streams[0].names, one.streams[0].losses) == ([], 1)
