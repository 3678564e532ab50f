"""The index finds what comparing with each subscription finds, and looks at nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.event.event import Event, Position
from onair_api.event.subscription import Subscription
from onair_api.event.subscription_index import SubscriptionIndex

LAYOUTS = {"l1": "p1", "l2": "p1", "l3": "p2"}
PROJECTS = {"p1": "c1", "p2": "c1", "p3": "c2"}


def complete(target: Target) -> Target:
    project = LAYOUTS[target.layout_id] if target.layout_id else target.project_id
    return Target(PROJECTS[project] if project else target.collection_id, project, target.layout_id)


TARGETS = [
    Target(),
    *(Target(each) for each in ("c1", "c2")),
    *(complete(Target(None, each)) for each in PROJECTS),
    *(complete(Target(None, None, each)) for each in LAYOUTS),
]
NAMES = st.text(alphabet="ab:", max_size=4)
PATTERNS = st.text(alphabet="ab:*|", max_size=6)


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    full = draw(st.sampled_from(TARGETS))
    keep = draw(st.tuples(st.booleans(), st.booleans()))
    named = Target(
        full.collection_id if keep[0] or not full.project_id else None,
        full.project_id if keep[1] or not full.layout_id else None,
        full.layout_id,
    )
    return Subscription(draw(PATTERNS), named, full)


def event(name: str, target: Target) -> Event:
    return Event(name, b"{}", target, "Project", Position(1), ())


@given(
    st.lists(st.tuples(subscriptions(), st.integers(0, 2)), max_size=8),
    st.data(),
    st.lists(st.tuples(NAMES, st.sampled_from(TARGETS)), min_size=1, max_size=4),
)
def test_it_finds_what_the_naive_matcher_finds(
    added: list[tuple[Subscription, int]], data: st.DataObject, events: list[tuple[str, Target]]
) -> None:
    index: SubscriptionIndex[int] = SubscriptionIndex()
    for subscription, receiver in added:
        index.add(subscription, receiver)
    removed = data.draw(st.sets(st.integers(0, max(0, len(added) - 1))) if added else st.just(set()))
    for number in removed:
        index.remove(*added[number])
    left = [each for number, each in enumerate(added) if number not in removed]
    for name, target in events:
        expected = {receiver for each, receiver in left if each.takes(event(name, target))}
        assert {each for group in index.find(name, target) for each in group} == expected
        assert index.takes(name, target) is bool(expected)
    for each in left:
        index.remove(*each)
    assert not index


class LookupCountingName(str):
    """Counts how often it is looked at."""

    looks = 0

    def __getitem__(self, key: Any) -> str:
        self.looks += 1
        return super().__getitem__(key)

    def startswith(self, *args: Any) -> bool:
        self.looks += 1
        return super().startswith(*args)


def test_an_event_is_compared_with_each_length_of_prefixes_and_not_with_each_prefix() -> None:
    index: SubscriptionIndex[int] = SubscriptionIndex()
    for number in range(10_240):
        index.add(Subscription(f"studio:{number:05}:*", Target(), Target()), number)
        index.add(Subscription(f"{number}", Target("c1", f"p{number}"), Target("c1", f"p{number}")), number)
    name = LookupCountingName("studio:00042:changed")
    assert index.find(name, Target("c1", "p1")) == [{42: 1}]
    assert name.looks <= 4
