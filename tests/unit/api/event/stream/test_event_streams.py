"""How many streams a token may have open, and how they end."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.documents import document
from tests.support.recorded_stream import RecordingSender
from tests.support.waiting import until

from onair_api.access.target import Target
from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.verified_token import Verified
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import COLLECTION, PROJECT
from onair_api.errors import ResourceExhausted
from onair_api.event.event import Event, Format, Position
from onair_api.event.replay.closed_session_position import ClosedSession, Unsent
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream import event_streams
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.event_streams import SERVICE_RESTART, STORED_AT_ONCE, EventStreams
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.settings import EventSettings, Settings
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role

PROJECT_UID = "uid-show"


class SlowCluster:
    """A view without the project, which each has to fetch from the API server; nobody answers at once."""

    age_s = 0.0

    def __init__(self) -> None:
        self.view = View()
        self._objects = View()
        self._objects.put(COLLECTION, document("sunday", {"owner": {"serviceId": "s", "serviceUserId": "u"}}))
        self._objects.put(PROJECT, document("show", {"collectionId": "sunday"}))
        self.answer = asyncio.Event()

    async def get(self, kind: str, name: str) -> Entry | None:
        await self.answer.wait()
        return self._objects.get(kind, name)


def guest() -> Verified:
    control = GuestControl("sunday", "show", PROJECT_UID)
    return Verified(Identity("s", "g", "Guest", Role.GUEST, (), control), 0.0, 4e9, 0.0, "token")


async def test_streams_that_are_opened_at_once_are_no_more_than_a_token_may_have() -> None:
    cluster, settings = SlowCluster(), Settings(events=EventSettings(sessions_per_token=3))
    replayer = SimpleNamespace(closed_session=lambda *_: None)
    delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(settings.events))
    streams = EventStreams(
        cast(Any, cluster), settings, None, delivery, cast(Any, replayer), lambda *_: False
    )
    most = settings.events.sessions_per_token
    sender: Any = SimpleNamespace(format=Format.NDJSON, withdraw=lambda: Unsent([]))
    opening = [asyncio.create_task(streams.open(guest(), None, sender)) for _ in range(2 * most)]
    await asyncio.sleep(0)
    cluster.answer.set()
    opened = await asyncio.gather(*opening, return_exceptions=True)
    sessions = [each for each in opened if isinstance(each, Session)]
    refused = [each for each in opened if isinstance(each, ResourceExhausted)]
    assert (len(sessions), len(refused)) == (most, most)
    for session in sessions:
        await streams.close(session)
    assert streams.open_sessions == 0


class Unsubscribed(EventDelivery):
    """Notes at which step of the event loop each session's subscriptions went."""

    def __init__(self) -> None:
        events = EventSettings()
        super().__init__(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(events))
        self.step = 0
        self.steps: dict[Session, set[int]] = {}

    def remove(self, session: Session, subscription: Subscription) -> None:
        super().remove(session, subscription)
        self.steps.setdefault(session, set()).add(self.step)

    async def count_steps(self) -> None:
        while True:
            self.step += 1
            await asyncio.sleep(0)


async def subscribed(delivery: EventDelivery, streams: int) -> tuple[EventStreams, list[Session]]:
    """Streams with subscriptions."""
    cluster, replayer = SlowCluster(), SimpleNamespace(closed_session=lambda *_: None)
    cluster.answer.set()
    made = EventStreams(cast(Any, cluster), Settings(), None, delivery, cast(Any, replayer), lambda *_: False)
    sender: Any = SimpleNamespace(format=Format.NDJSON, withdraw=lambda: Unsent([]))
    sessions = [await made.open(guest(), None, sender) for _ in range(streams)]
    for session in sessions:
        for number in range(5):
            each = Subscription(f"{number}*", Target(), Target())
            session.subscriptions[each.name, each.named] = each
            delivery.add(session, each)
    return made, sessions


async def test_streams_that_close_at_once_leave_others_their_turns() -> None:
    delivery = Unsubscribed()
    streams, sessions = await subscribed(delivery, 20)
    counting = asyncio.create_task(delivery.count_steps())
    await asyncio.gather(*(streams.close(each) for each in sessions))
    counting.cancel()
    assert all(len(steps) == 1 for steps in delivery.steps.values()), "a stream is done in one step"
    assert len(set.union(*delivery.steps.values())) == len(sessions), "and no two in the same"
    assert streams.idle


async def test_a_stream_whose_end_is_cancelled_leaves_nothing() -> None:
    streams, sessions = await subscribed(delivery := Unsubscribed(), 3)
    closing = [asyncio.create_task(streams.close(each)) for each in sessions]
    await asyncio.sleep(0)
    for each in closing:
        each.cancel()
    await asyncio.gather(*closing, return_exceptions=True)
    assert set(delivery.steps) == set(sessions)
    assert streams.idle


class SlowStore:
    """Stands for the replayer; stores sessions when it is let, and notes what happens in which order."""

    def __init__(self) -> None:
        self.happened: list[tuple[str, Session]] = []
        self.storing: list[str] = []
        self.most_at_once = 0
        self.stores = asyncio.Event()

    def closed_session(self, *_: Any) -> ClosedSession:
        return ClosedSession({}, [], 0.0)

    async def keep(self, user_id: str, session_id: str, closed: ClosedSession) -> None:
        self.storing.append(session_id)
        self.most_at_once = max(self.most_at_once, len(self.storing))
        await self.stores.wait()
        self.storing.remove(session_id)
        self.happened.append(("stored", self.sessions[session_id]))

    async def open(self, streams: int, delivery: EventDelivery, settings: Settings) -> EventStreams:
        cluster = SlowCluster()
        cluster.answer.set()
        made = EventStreams(cast(Any, cluster), settings, None, delivery, cast(Any, self), lambda *_: False)
        self.sessions: dict[str, Session] = {}
        for _ in range(streams):
            session = await made.open(guest(), None, cast(Any, ToldSender(self)))
            session.sender.session = session  # type: ignore[attr-defined]
            self.sessions[session.id] = session
            session.subscriptions[ALL.name, ALL.named] = ALL
            delivery.add(session, ALL)
        return made


class ToldSender(RecordingSender):
    """Notes when its client is told to go."""

    def __init__(self, store: SlowStore) -> None:
        super().__init__()
        self._store = store
        self.session: Session | None = None

    def end(self, code: int, reason: str) -> None:
        assert code == SERVICE_RESTART
        assert self.session
        self._store.happened.append(("told", self.session))


ALL = Subscription("*", Target(), Target())
MANY = 3 * STORED_AT_ONCE


class EndedSubscriptions(Unsubscribed):
    """Notes them among what else happens."""

    def __init__(self, store: SlowStore) -> None:
        super().__init__()
        self._store = store

    def remove(self, session: Session, subscription: Subscription) -> None:
        super().remove(session, subscription)
        self._store.happened.append(("ended", session))


def sender_of(session: Session) -> RecordingSender:
    assert isinstance(session.sender, RecordingSender)
    return session.sender


def settings_with(drain_s: float) -> Settings:
    return Settings(events=EventSettings(drain_s=drain_s))


async def test_streams_that_close_at_once_are_stored_before_their_subscriptions_have_their_turns() -> None:
    store = SlowStore()
    store.stores.set()
    streams = await store.open(MANY, EndedSubscriptions(store), settings_with(0))
    await asyncio.gather(*(streams.close(each) for each in store.sessions.values()))
    first = [what for what, _ in store.happened[: MANY + 1]]
    assert sorted(first) == ["ended", *["stored"] * MANY], "at most one had its turn by then"
    assert streams.closing_sessions == 0
    assert streams.idle


async def test_a_stream_that_is_cancelled_as_it_closes_is_stored() -> None:
    store = SlowStore()
    streams = await store.open(1, EndedSubscriptions(store), settings_with(0))
    (session,) = store.sessions.values()
    closing = asyncio.create_task(streams.close(session))
    await until(lambda: bool(store.storing))
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)
    assert streams.closing_sessions == 1
    store.stores.set()
    await until(lambda: not streams.closing_sessions)
    assert ("stored", session) in store.happened
    assert streams.idle


async def test_a_client_is_sent_away_once_its_session_is_stored() -> None:
    store = SlowStore()
    delivery = EndedSubscriptions(store)
    streams = await store.open(MANY, delivery, settings_with(0))
    draining = asyncio.create_task(streams.drain())
    await until(lambda: len(store.storing) == STORED_AT_ONCE)
    keys = next(iter(store.sessions.values())).visibility.keys
    delivery.deliver(Event("e", b"{}", Target(), "Project", Position(1), keys))
    await until(lambda: delivery._turns.idle)
    store.stores.set()
    await draining
    assert store.most_at_once == STORED_AT_ONCE
    for session in store.sessions.values():
        assert [what for what, whose in store.happened if whose is session] == ["stored", "told", "ended"]
    assert [len(sender_of(each).events) for each in store.sessions.values()].count(0) == STORED_AT_ONCE, (
        "what comes after it is stored is for its return"
    )
    assert streams.open_sessions == streams.closing_sessions == 0


async def test_a_store_that_hangs_keeps_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "STORE_S", 0.0)
    store = SlowStore()
    streams = await store.open(MANY, EndedSubscriptions(store), settings_with(0))
    draining = asyncio.create_task(streams.drain())
    await until(lambda: len(store.happened) == 2 * MANY)
    assert Counter(what for what, _ in store.happened) == {"told": MANY, "ended": MANY}
    store.stores.set()
    await draining
    assert Counter(what for what, _ in store.happened)["stored"] == MANY, "late, and yet"


class WaitingBus:
    """Channels of custom events that Redis has not confirmed yet."""

    def __init__(self) -> None:
        self.listeners: Counter[str] = Counter()
        self.asked = asyncio.Event()

    async def acquire(self, user_id: str) -> None:
        self.listeners[user_id] += 1
        self.asked.set()
        await asyncio.Event().wait()

    def release(self, user_id: str) -> None:
        assert self.listeners[user_id], "nothing is given back that was not taken"
        self.listeners[user_id] -= 1


async def test_a_stream_that_is_cancelled_as_it_opens_gives_back_what_it_has_taken_and_no_more() -> None:
    cluster, settings, bus = SlowCluster(), Settings(), WaitingBus()
    cluster.answer.set()
    replayer = SimpleNamespace(closed_session=lambda *_: None)
    delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(settings.events))
    streams = EventStreams(
        cast(Any, cluster), settings, cast(Any, bus), delivery, cast(Any, replayer), lambda *_: False
    )
    sender: Any = SimpleNamespace(format=Format.NDJSON, withdraw=lambda: Unsent([]))
    opening = asyncio.create_task(streams.open(guest(), None, sender))
    await bus.asked.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert len(bus.listeners) == 1, "the host's channel was not its to give back"
    assert not bus.listeners.total()
    assert streams.idle
