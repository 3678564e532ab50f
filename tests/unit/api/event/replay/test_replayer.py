"""What a session that comes back is given."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Collection

import pytest

from onair_api.access.audiences import Visibility, owner_key
from onair_api.access.target import Target
from onair_api.event import names, subscription_index
from onair_api.event.event import LAYOUT_FAMILY, LIVE_FAMILY, Event, Position
from onair_api.event.names import WildPattern
from onair_api.event.replay import event_index
from onair_api.event.replay.closed_session_position import ClosedSession, ResumedSession, Unsent
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.event.replay.replayer import COMPARISONS, LOOKS, Replayer, TooManyEvents
from onair_api.event.replay.session_store import SessionStore
from onair_api.event.subscription import Subscription

OWN = owner_key("s", "u")
ALL = Visibility("u", (OWN,), sees_layouts=True)
EVERYTHING = Subscription("*", Target(), Target())
ELSEWHERE = Subscription("elsewhere", Target(), Target())
NOTHING = Unsent([])
MOST_EVENTS = 100
MOST_COMPARISONS = COMPARISONS * LOOKS * MOST_EVENTS


def event(number: int, name: str = "e", family: str = LIVE_FAMILY) -> Event:
    return Event(name, b"", Target(), "Project", Position(number), (OWN,), family=family)


def replayer(*events: Event) -> Replayer:
    buffer = ReplayBuffer(60, MOST_EVENTS, 1000)
    buffer.start("Project", Position(10), time.monotonic())
    for each in events:
        buffer.add(each, time.monotonic())
    return Replayer(buffer, SessionStore(None, lambda: False, 60), 60)


def missed(
    replayer: Replayer,
    after: int,
    subscription: Subscription = EVERYTHING,
    visibility: Visibility = ALL,
    earlier: Collection[Subscription] = (),
) -> list[int]:
    closed = ClosedSession({"Project": Position(after)}, [EVERYTHING], time.monotonic())
    resumed = ResumedSession(closed, time.monotonic() + 60, given=[*earlier])
    return [e.position.number for e in replayer.missed(resumed, visibility, subscription)]


def test_it_gets_what_came_after_its_position() -> None:
    assert missed(replayer(event(11), event(12), event(13)), 11) == [12, 13]


def test_it_gets_only_what_it_may_see_and_subscribes_to() -> None:
    replay = replayer(event(11, "a"), event(12, "b"), event(13, "a", LAYOUT_FAMILY))
    only_a = Subscription("a", Target(), Target())
    assert missed(replay, 10, only_a) == [11, 13]
    assert missed(replay, 10, only_a, Visibility("u", (OWN,), sees_layouts=False)) == [11]
    assert missed(replay, 10, only_a, Visibility("v", (owner_key("s", "v"),), sees_layouts=True)) == []
    assert missed(replay, 10, EVERYTHING, earlier=[only_a]) == [12], "the rest was given before"


def test_a_subscription_looks_at_what_it_takes_and_at_nothing_else() -> None:
    replay = replayer(*(event(11 + number, f"e{number}") for number in range(50)))
    resumed = ResumedSession(
        ClosedSession({"Project": Position(10)}, [EVERYTHING], 0.0), time.monotonic() + 60
    )
    for number in range(50):
        subscription = Subscription(f"e{number}", Target(), Target())
        (found,) = replay.missed(resumed, ALL, subscription)
        assert found.position.number == 11 + number
    assert resumed.looked_at == 50
    stranger = Visibility("v", (owner_key("s", "v"),), sees_layouts=True)
    assert list(replay.missed(resumed, stranger, EVERYTHING)) == []
    assert resumed.looked_at == 50


def test_subscriptions_that_overlap_beyond_measure_are_told_that_events_were_lost() -> None:
    replay = replayer(*(event(11 + number) for number in range(60)))
    resumed = ResumedSession(
        ClosedSession({"Project": Position(10)}, [EVERYTHING], 0.0), time.monotonic() + 60
    )
    assert [len(list(replay.missed(resumed, ALL, EVERYTHING))) for _ in range(3)] == [60, 0, 0], "given once"
    with pytest.raises(TooManyEvents):
        list(replay.missed(resumed, ALL, EVERYTHING))


class Comparisons:
    """Counts how often a name is compared with a pattern."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.made = 0
        for module in (event_index, subscription_index):
            patch.setattr(module, "matches_wild", self._matches)

    def _matches(self, pieces: WildPattern, name: str) -> bool:
        self.made += 1
        return names.matches_wild(pieces, name)


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> Comparisons:
    return Comparisons(monkeypatch)


def permuted(patterns: list[str], many: int) -> list[Subscription]:
    """Subscriptions to the same patterns in different orders, each another."""
    turned = (patterns[number:] + patterns[:number] for number in range(many))
    return [Subscription("|".join(each), Target(), Target()) for each in turned]


def test_a_session_that_goes_with_patterns_that_match_nothing_is_not_compared_without_end(
    comparisons: Comparisons,
) -> None:
    replay = replayer(*(event(11 + number, f"e{number}") for number in range(MOST_EVENTS)))
    resumed = resumed_with(*permuted([f"*{number}x" for number in range(64)], 64), given=[ELSEWHERE])
    closed = closed_after(resumed, replay, ELSEWHERE)
    assert comparisons.made <= MOST_COMPARISONS
    assert closed
    assert closed.lost, "what was not looked for may have been missed"


def test_each_subscription_with_patterns_that_match_nothing_counts(comparisons: Comparisons) -> None:
    replay = replayer(*(event(11 + number, f"e{number}") for number in range(MOST_EVENTS)))
    resumed = resumed_with(EVERYTHING)
    told = 0
    for number in range(64):
        other = Subscription(f"*{number}x", Target(), Target())
        try:
            assert list(replay.missed(resumed, ALL, other)) == []
        except TooManyEvents:
            told += 1
    assert comparisons.made <= MOST_COMPARISONS
    assert told


def test_patterns_that_many_subscriptions_have_are_compared_once(comparisons: Comparisons) -> None:
    replay = replayer(*(event(11 + number, f"e{number}") for number in range(MOST_EVENTS)))
    subscriptions = [Subscription(f"*1x|*2x|*3x|{number}", Target(), Target()) for number in range(60)]
    resumed = resumed_with(*subscriptions)
    for each in subscriptions[:30]:
        assert list(replay.missed(resumed, ALL, each)) == []
    closed = closed_after(resumed, replay, *subscriptions[:30])
    assert closed
    assert not closed.lost
    assert comparisons.made == 3 * MOST_EVENTS


def test_only_names_that_begin_like_a_pattern_are_compared(comparisons: Comparisons) -> None:
    replay = replayer(*(event(11 + number, f"{number % 10}:{number}") for number in range(MOST_EVENTS)))
    sevens = Subscription("7:*5|7:*7", Target(), Target())
    assert len(missed(replay, 10, sevens)) == 10
    assert comparisons.made == 2 * 10


def test_what_a_closed_session_did_not_take_is_compared_once_for_each_name(comparisons: Comparisons) -> None:
    (former,) = permuted(["x*1", "x*2", "x*3", "x*4"], 1)
    alike = replayer(*(event(11 + number, f"e{number % 5}") for number in range(MOST_EVENTS)))
    assert list(alike.missed(resumed_with(former), ALL, EVERYTHING)) == []
    assert comparisons.made == 4 * 5
    (former,) = permuted([f"x*{number}" for number in range(64)], 1)
    different = replayer(*(event(11 + number, f"e{number}") for number in range(MOST_EVENTS)))
    with pytest.raises(TooManyEvents):
        list(different.missed(resumed_with(former), ALL, EVERYTHING))
    assert comparisons.made <= 4 * 5 + MOST_COMPARISONS


def test_what_is_looked_at_to_find_nothing_counts() -> None:
    targets = [Target("c", f"p{number}") for number in range(MOST_EVENTS)]
    replay = replayer(*(dataclasses.replace(event(11 + n), target=each) for n, each in enumerate(targets)))
    resumed = resumed_with(*permuted([f"x{number}" for number in range(64)], 64), given=[ELSEWHERE])
    closed = closed_after(resumed, replay, ELSEWHERE)
    assert closed
    assert closed.lost


def test_what_its_reader_did_not_take_counts_as_missed() -> None:
    replay = replayer(event(11), event(12))
    closed = replay.closed_session(ALL, [EVERYTHING], None, ["Project"], Unsent([event(12)]), behind_s=2.0)
    assert closed
    assert time.monotonic() - closed.at == pytest.approx(2.0, abs=1.0)
    assert Position(11) < closed.positions["Project"] < Position(12)


@pytest.mark.parametrize("lost", [False, True])
def test_a_loss_that_it_was_not_told_is_told_as_it_comes_back(lost: bool) -> None:
    replay = replayer(event(11))
    closed = replay.closed_session(ALL, [EVERYTHING], None, ["Project"], Unsent([], lost), behind_s=0.0)
    assert closed
    fetched = ClosedSession.from_json(json.loads(json.dumps(closed.json())), closed.at)
    assert replay.is_complete(fetched, ALL) is not lost


def test_a_loss_is_told_to_those_who_see_what_was_lost() -> None:
    replay = replayer(*(event(11 + number) for number in range(MOST_EVENTS + 1)))
    closed = ClosedSession({"Project": Position(10)}, [EVERYTHING], time.time())
    assert not replay.is_complete(closed, ALL)
    assert replay.is_complete(closed, Visibility("v", (owner_key("s", "v"),), sees_layouts=True))


def test_a_replica_that_is_behind_keeps_the_position_of_the_one_ahead() -> None:
    replay = replayer(event(11))
    ahead = ClosedSession({"Project": Position(15)}, [EVERYTHING], time.monotonic())
    resumed = ResumedSession(ahead, time.monotonic() + 60)
    closed = replay.closed_session(ALL, [EVERYTHING], resumed, ["Project"], NOTHING, behind_s=0.0)
    assert closed
    assert closed.positions == {"Project": Position(15)}


def closed_after(
    resumed: ResumedSession, replay: Replayer, *subscriptions: Subscription
) -> ClosedSession | None:
    return replay.closed_session(ALL, subscriptions, resumed, ["Project"], NOTHING, behind_s=0.0)


def resumed_with(
    *subscriptions: Subscription, for_s: float = 60, given: Collection[Subscription] = ()
) -> ResumedSession:
    closed = ClosedSession({"Project": Position(10)}, [*subscriptions], time.monotonic())
    return ResumedSession(closed, time.monotonic() + for_s, given=[*given])


def test_a_session_that_never_subscribed_again_keeps_what_it_came_back_with() -> None:
    replay, resumed = replayer(), resumed_with(EVERYTHING)
    assert closed_after(resumed, replay) is resumed.closed
    assert closed_after(resumed_with(EVERYTHING, for_s=-1), replay) is None
    assert replay.closed_session(ALL, [], None, [], NOTHING, behind_s=0.0) is None


def test_a_session_that_was_given_what_it_missed_and_unsubscribed_is_not_given_it_again() -> None:
    replay, resumed = replayer(event(11)), resumed_with(EVERYTHING)
    assert list(replay.missed(resumed, ALL, EVERYTHING))
    assert closed_after(resumed, replay) is None


def test_a_session_that_breaks_between_two_subscriptions_is_told_of_what_the_second_missed() -> None:
    a, b, c = (Subscription(name, Target(), Target()) for name in "abc")
    replay, resumed = replayer(event(11, "a"), event(12, "b")), resumed_with(a, b, c)
    assert list(replay.missed(resumed, ALL, a))
    closed = closed_after(resumed, replay, a)
    assert closed
    assert closed.lost
    assert list(replay.missed(resumed, ALL, b))
    closed = closed_after(resumed, replay, a, b)
    assert closed
    assert not closed.lost, "the third has missed nothing"


async def test_without_redis_a_closed_session_is_kept_here_and_taken_once() -> None:
    replay = replayer()
    closed = ClosedSession({}, [EVERYTHING], time.monotonic())
    await replay.keep("u", "id", closed)
    resumed = await replay.resume("u", "id")
    assert resumed
    assert resumed.closed is closed
    assert await replay.resume("u", "id") is None
