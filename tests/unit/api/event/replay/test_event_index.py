"""The index of kept events finds what looking at each of them finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.replay.event_index import EventIndex
from onair_api.event.subscription import Subscription

AUDIENCES = [("user", "u"), ("owner", "s", "u"), ("project", "s", "p")]
COMPLETE = [Target(), Target("c"), Target("d"), Target("c", "p"), Target("c", "q"), Target("c", "p", "l")]
TARGETS = st.sampled_from(COMPLETE)
NAMES = st.text(alphabet="ab:", min_size=1, max_size=3)
PATTERNS = st.lists(st.text(alphabet="ab:*", min_size=1, max_size=4), min_size=1, max_size=3).map("|".join)
KEYS = st.sets(st.sampled_from(AUDIENCES))


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    complete = draw(TARGETS)
    kept = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    ids = (complete.collection_id, complete.project_id, complete.layout_id)
    # The narrowest id is always named
    narrowest = max((at for at, each in enumerate(ids) if each), default=0)
    named = Target(
        *(
            each if keep or at == narrowest else None
            for at, (each, keep) in enumerate(zip(ids, kept, strict=True))
        )
    )
    return Subscription(draw(PATTERNS), named, complete)


@given(
    st.lists(st.tuples(NAMES, TARGETS, KEYS), max_size=30),
    st.sets(st.integers(1, 30)),
    st.lists(st.tuples(subscriptions(), KEYS), max_size=5),
)
def test_it_finds_what_a_look_at_each_finds(
    described: list[tuple[str, Target, set[tuple[str, ...]]]],
    removed: set[int],
    asked: list[tuple[Subscription, set[tuple[str, ...]]]],
) -> None:
    index = EventIndex()
    events = [
        Event(name, b"", target, "s", Position(number), tuple(sorted(keys)))
        for number, (name, target, keys) in enumerate(described)
    ]
    for each in events:
        index.add(each)
    left = {number: each for number, each in enumerate(events, 1) if number not in removed}
    for number in sorted(removed.intersection(range(1, len(events) + 1))):
        index.remove(events[number - 1])
    for subscription, keys in asked:
        found = {number for part in index.find(keys, subscription) for number, _ in part}
        expected = {
            number
            for number, each in left.items()
            if keys.intersection(each.audiences) and subscription.takes(each)
        }
        assert found == expected
    for each in left.values():
        index.remove(each)
    assert not index


def test_an_event_may_be_removed_before_older_ones_of_its_name_and_target() -> None:
    """Of two owners of a collection, one after the other, each has what came in their time."""
    index = EventIndex()
    events = [Event("e", b"", Target(), "s", Position(number), (AUDIENCES[0],)) for number in range(3)]
    for each in events:
        index.add(each)
    index.remove(events[1])
    (part,) = index.find({AUDIENCES[0]}, Subscription("*", Target(), Target()))
    assert [each.position.number for _, each in part] == [0, 2]
