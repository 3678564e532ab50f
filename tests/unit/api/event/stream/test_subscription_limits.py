"""What one token's streams may subscribe to, and what all those of an audience may."""

from __future__ import annotations

import pytest
from tests.support.recorded_stream import RecordingSender

from onair_api.access.audiences import Visibility, owner_key
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.errors import ResourceExhausted
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.session import Session
from onair_api.event.stream.subscription_limits import SubscriptionLimits
from onair_api.event.subscription import Subscription
from onair_api.settings import EventSettings
from onair_crds.resources.enums import Role


class LimitedReplica:
    """Streams of one replica with low limits."""

    def __init__(self) -> None:
        settings = EventSettings(
            subscriptions_per_session=3, names_per_token=5, wildcards_per_token=2, wildcards_per_audience=3
        )
        self.delivery = EventDelivery(ReplayBuffer(60, 100, 10_000), SubscriptionLimits(settings))

    def stream(self, token: str) -> Session:
        identity = Identity("s", "u", "u", Role.HOST, ())
        return Session(
            "id", identity, Visibility("u", (owner_key("s", "u"),), True), token, RecordingSender()
        )

    def subscribe(self, session: Session, name: str) -> None:
        self.delivery.check(session, name)
        subscription = Subscription(name, Target(), Target())
        session.subscriptions[name, Target()] = subscription
        self.delivery.add(session, subscription)

    def unsubscribe(self, session: Session, name: str) -> None:
        self.delivery.remove(session, session.subscriptions.pop((name, Target())))


@pytest.fixture
def replica() -> LimitedReplica:
    return LimitedReplica()


def test_a_stream_holds_so_many_subscriptions(replica: LimitedReplica) -> None:
    stream = replica.stream("t")
    for name in ("a", "b*", "c"):
        replica.subscribe(stream, name)
    with pytest.raises(ResourceExhausted, match=r"3 subscriptions of a stream .*subscriptionsPerSession"):
        replica.subscribe(stream, "d")


def test_alternatives_count_for_all_streams_of_a_token(replica: LimitedReplica) -> None:
    first, second = replica.stream("t"), replica.stream("t")
    replica.subscribe(first, "a|b|c*")
    with pytest.raises(ResourceExhausted, match=r"5 names .*namesPerToken"):
        replica.subscribe(second, "d|e|f")
    replica.subscribe(second, "d|e")
    replica.subscribe(replica.stream("other"), "d|e|f")


def test_wildcards_count_once_for_a_token_and_prefixes_not_at_all(replica: LimitedReplica) -> None:
    first, second = replica.stream("t"), replica.stream("t")
    replica.subscribe(first, "*:a|*:b")
    replica.subscribe(second, "*:a|**:a")
    replica.subscribe(second, "a*")
    with pytest.raises(ResourceExhausted, match=r"2 different patterns .*wildcardsPerToken"):
        replica.subscribe(second, "*:c")


def test_wildcards_of_many_tokens_count_for_their_audience(replica: LimitedReplica) -> None:
    replica.subscribe(replica.stream("t"), "*:a|*:b")
    replica.subscribe(replica.stream("u"), "*:a|*:c")
    replica.subscribe(replica.stream("v"), "*:b")
    with pytest.raises(ResourceExhausted, match=r"3 different patterns .*wildcardsPerAudience"):
        replica.subscribe(replica.stream("v"), "*:d")


def test_what_was_given_back_may_be_taken_again(replica: LimitedReplica) -> None:
    stream = replica.stream("t")
    for _ in range(3):
        replica.subscribe(stream, "*:a|*:b|c|d|e")
        replica.unsubscribe(stream, "*:a|*:b|c|d|e")
    assert replica.delivery.idle
