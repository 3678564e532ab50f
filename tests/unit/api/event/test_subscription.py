"""Which events a subscription takes, by their targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.event.subscription import covers

LAYOUTS = {"l1": "p1", "l2": "p1", "l3": "p2", "l4": "p3"}
PROJECTS = {"p1": "c1", "p2": "c1", "p3": "c2"}


def complete(target: Target) -> Target:
    project = LAYOUTS[target.layout_id] if target.layout_id else target.project_id
    collection = PROJECTS[project] if project else target.collection_id
    return Target(collection, project, target.layout_id)


COLLECTIONS = [Target(c) for c in ("c1", "c2")]
EVENTS = [
    Target(),
    *COLLECTIONS,
    *(complete(Target(None, p)) for p in PROJECTS),
    *(complete(Target(None, None, each)) for each in LAYOUTS),
]


def named(ids: str) -> Target:
    """`c1 p1` names a collection and a project."""
    found = {each[0]: each for each in ids.split()}
    return Target(found.get("c"), found.get("p"), found.get("l"))


@pytest.mark.parametrize(
    ("subscription", "event", "expected"),
    [
        ("", "c1", True),
        ("c1", "c1", True),
        ("c1", "p1", True),
        ("c1", "l1", True),
        ("c1", "p3", False),
        ("p1", "p1", True),
        ("p1", "l1", True),
        ("p1", "c1", True),
        ("p1", "c2", False),
        ("c1 p1", "c1", False),
        ("c1 p1", "p1", True),
        ("p1", "p2", False),
        ("l1", "l1", True),
        ("l1", "l2", False),
        ("l1", "p1", True),
        ("l1", "c1", True),
        ("p1 l1", "p1", False),
        ("p1 l1", "c1", True),
        ("c1 l1", "p1", True),
        ("c1 l1", "c1", False),
        ("l1", "p2", False),
    ],
)
def test_scopes(subscription: str, event: str, expected: bool) -> None:
    target = named(subscription)
    assert covers(target, complete(target), complete(named(event))) is expected


def test_an_event_without_a_target_is_for_every_subscription_of_its_user() -> None:
    assert covers(named("c1 p1"), named("c1 p1"), Target())


@given(st.sampled_from(EVENTS), st.booleans(), st.booleans(), st.sampled_from(EVENTS))
def test_an_event_above_is_for_subscriptions_that_do_not_name_its_level(
    full: Target, names_collection: bool, names_project: bool, event: Target
) -> None:
    """An independent statement of the rule: by level, from the narrowest id of the event."""
    asked = Target(
        full.collection_id if names_collection or not full.project_id else None,
        full.project_id if names_project or not full.layout_id else None,
        full.layout_id,
    )
    levels = ("collection_id", "project_id", "layout_id")
    present = [level for level in levels if getattr(event, level)]
    if not asked or not present:
        expected = True
    else:
        own = [level for level in levels if getattr(asked, level)]
        within = all(getattr(event, level) == getattr(asked, level) for level in own)
        above = (
            own[-1] not in present
            and present[-1] not in own
            and getattr(full, present[-1]) == getattr(event, present[-1])
        )
        expected = within or above
    assert covers(asked, full, event) is expected
