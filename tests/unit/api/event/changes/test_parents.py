"""Targets and owners of objects, as the watches said them."""

from __future__ import annotations

import pytest

from onair_api.access.target import Target
from onair_api.cache.view import Entry
from onair_api.event.changes.parents import Parents
from onair_crds.shapes import Document


def entry(kind: str, name: str, **spec: object) -> Entry:
    document: Document = {"metadata": {"name": name, "uid": name, "resourceVersion": "1"}, "spec": spec}
    return Entry(kind, document)


COLLECTION = entry("Collection", "c", owner={"serviceId": "s", "serviceUserId": "u"})
PROJECT = entry("Project", "p", collectionId="c")


@pytest.mark.parametrize(
    ("child", "target"),
    [
        (COLLECTION, Target("c")),
        (PROJECT, Target("c", "p")),
        (entry("Source", "so", collectionId="c"), Target("c")),
        (entry("Destination", "d", projectId="p"), Target("c", "p")),
        (entry("Layout", "l", projectId="p"), Target("c", "p", "l")),
    ],
)
def test_a_target_is_completed_with_the_ids_above(child: Entry, target: Target) -> None:
    parents = Parents()
    parents.learn(COLLECTION)
    parents.learn(PROJECT)
    assert parents.find(child) == (target, ("s", "u"))


def test_children_of_deleted_parents_still_have_a_target_and_an_owner() -> None:
    parents = Parents()
    for each in (COLLECTION, PROJECT):
        parents.learn(each)
        parents.forget(each)
    layout = entry("Layout", "l", projectId="p")
    assert parents.find(layout) == (Target("c", "p", "l"), ("s", "u"))


def test_an_object_without_known_parents_has_no_owner() -> None:
    assert Parents().find(entry("Layout", "l", projectId="p")) == (Target(None, "p", "l"), None)
