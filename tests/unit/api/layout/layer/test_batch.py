"""Batches on a scene, against a model that is as simple as can be: a list of (parent, child) pairs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from onair_api.errors import RpcError
from onair_api.layout.layer.tree import Create, Delete, LayerOperation, Update, applied
from onair_crds.runtime.steps import at_once

NAMES = ["root", "a", "b", "c", "d", "e"]
NEW = ["n0", "n1", "n2"]


class ChangeRefused(Exception):
    pass


class Model:
    """Layers as a list of names, the tree as pairs in stacking order. Nothing is shared with the code."""

    def __init__(self) -> None:
        self.names = list(NAMES)
        self.taken: list[str] = []
        self.pairs = [("root", "a"), ("root", "b"), ("a", "c"), ("a", "d")]

    def below(self, parent: str) -> list[str]:
        return [child for p, child in self.pairs if p == parent]

    def descendants(self, name: str) -> list[str]:
        found = [name]
        for each in found:
            if len(found) > 100:
                raise ChangeRefused
            found += self.below(each)
        return found

    def place(self, name: str, children: list[str] | None, parent: str | None) -> None:
        if children is not None:
            if len(set(children)) < len(children) or {"root", name} & set(children):
                raise ChangeRefused
            if not set(children) <= set(self.names):
                raise ChangeRefused
            self.pairs = [(p, c) for p, c in self.pairs if p != name and c not in children]
            self.pairs += [(name, child) for child in children]
        if parent is not None:
            if parent not in self.names or name == "root":
                raise ChangeRefused
            if (parent, name) not in self.pairs:
                self.pairs = [(p, c) for p, c in self.pairs if c != name] + [(parent, name)]
        if name in [d for child in self.below(name) for d in self.descendants(child)]:
            raise ChangeRefused

    def create(self, name: str, children: list[str] | None, parent: str | None) -> None:
        self.names.append(name)
        self.place(name, children, parent)

    def update(self, name: str, children: list[str] | None, parent: str | None) -> None:
        if name not in self.names:
            raise ChangeRefused
        self.place(name, children, parent)

    def delete(self, name: str) -> None:
        if name in self.taken:
            return
        if name not in self.names or name == "root":
            raise ChangeRefused
        gone = self.descendants(name)
        self.taken += gone
        self.names = [each for each in self.names if each not in gone]
        self.pairs = [(p, c) for p, c in self.pairs if c not in gone and p not in gone]


old = st.sampled_from(NAMES[1:])
known = st.one_of(old, old, old, st.sampled_from([*NAMES, *NEW, "missing"]))
children_or_none = st.one_of(
    st.none(), st.lists(old, max_size=2, unique=True), st.lists(known, max_size=4, unique=True)
)
parent_or_none = st.one_of(st.none(), st.none(), st.sampled_from(NAMES), known)
changes = st.tuples(st.sampled_from(["update", "update", "delete"]), known, children_or_none, parent_or_none)
creations = st.tuples(st.just("create"), st.just(""), children_or_none, parent_or_none)


def model_of(batch: list[tuple[str, str, list[str] | None, str | None]]) -> Model | None:
    """The state after the batch; None where it is refused."""
    model, new = Model(), iter(NEW)
    try:
        for kind, name, children, parent in batch:
            if kind == "create":
                model.create(next(new), children, parent)
            elif kind == "update":
                model.update(name, children, parent)
            else:
                model.delete(name)
    except ChangeRefused:
        return None
    return model


def operations_of(batch: list[tuple[str, str, list[str] | None, str | None]]) -> list[LayerOperation]:
    new = iter(NEW)
    found: list[LayerOperation] = []
    for kind, name, children, parent in batch:
        values: dict[str, object] = {} if children is None else {"children": children}
        values |= {} if parent is None else {"parentId": parent}
        if kind == "create":
            found.append(Create(next(new), {"type": "x", **values}))
        elif kind == "update":
            found.append(Update(name, values))
        else:
            found.append(Delete(name))
    return found


@settings(max_examples=1000, deadline=None)
@given(st.lists(changes | creations, max_size=8).filter(lambda b: sum(k == "create" for k, *_ in b) <= 3))
def test_a_batch_does_what_the_model_does(
    batch: list[tuple[str, str, list[str] | None, str | None]],
) -> None:
    start = Model()
    parents = {child: parent for parent, child in start.pairs}
    layers = {
        name: {
            "id": name,
            "type": "root" if name == "root" else "x",
            **({"children": start.below(name)} if start.below(name) else {}),
            **({"parentId": parents[name]} if name in parents else {}),
        }
        for name in start.names
    }
    model = model_of(batch)
    try:
        after = at_once(applied(layers, operations_of(batch), scene=True)).layers
    except RpcError:
        assert model is None
        return
    assert model is not None
    assert list(after) == model.names
    assert {n: each.get("children", []) for n, each in after.items()} == {n: model.below(n) for n in after}
    assert {c: after[c]["parentId"] for _, c in model.pairs} == {c: p for p, c in model.pairs}
