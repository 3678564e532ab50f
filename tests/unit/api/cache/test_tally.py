"""Sums along the parents of objects are those of an addition from nothing, in whatever order objects come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from onair_api.cache.tally import Amounts, Node, Tally


def three(kind: str) -> list[Node]:
    return [(kind, str(number)) for number in range(3)]


COLLECTIONS, PROJECTS, LEAVES = three("Collection"), three("Project"), three("Layout")
OWNERS: list[Node] = [("user", "a"), ("user", "b")]
ABOVE: dict[Node, list[Node]] = {
    **dict.fromkeys(COLLECTIONS, OWNERS),
    **dict.fromkeys(PROJECTS, COLLECTIONS),
    **dict.fromkeys(LEAVES, PROJECTS),
}


@st.composite
def steps(draw: st.DrawFn) -> tuple[Node, Node | None, Amounts]:
    """An object as it is now, or None for its parent where it goes."""
    node = draw(st.sampled_from(list(ABOVE)))
    parent = draw(st.none() | st.sampled_from(ABOVE[node]))
    return node, parent, draw(st.dictionaries(st.sampled_from("xy"), st.integers(1, 3)))


@given(st.lists(steps(), max_size=25))
def test_sums_are_those_of_what_is_there(taken: list[tuple[Node, Node | None, Amounts]]) -> None:
    tally, present = Tally(), dict[Node, tuple[Node, Amounts]]()
    for node, parent, own in taken:
        if parent is None:
            tally.remove(node)
            present.pop(node, None)
        else:
            tally.put(node, parent, own)
            present[node] = parent, own
    for owner in OWNERS:
        for name in "xy":
            assert tally.total(owner, name) == sum(
                own.get(name, 0) for node, (_, own) in present.items() if owner in _above(present, node)
            )
    for node in present:
        tally.remove(node)
    assert not tally


def _above(present: dict[Node, tuple[Node, Amounts]], node: Node) -> list[Node]:
    found: list[Node] = []
    while node in present:
        node = present[node][0]
        found.append(node)
    return found
