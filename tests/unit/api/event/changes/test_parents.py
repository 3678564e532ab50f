"""Targets and owners of objects, as the watches said them."""

from __future__ import annotations

import pytest

from onair_api.access.audiences import owner_key, project_key
from onair_api.access.target import Target
from onair_api.event.changes import parents as parents_module
from onair_api.event.changes.parents import Parents
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document


def entry(kind: str, name: str, **spec: object) -> Entry:
    document: Document = {"metadata": {"name": name, "uid": name, "resourceVersion": "1"}, "spec": spec}
    return Entry(kind, document)


def of_project(child: Entry, uid: str) -> Entry:
    child.metadata["ownerReferences"] = [{"kind": "Project", "name": "p", "uid": uid}]
    return child


OWNER = owner_key("s", "u")
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
    assert parents.target(child) == target
    assert parents.audiences(child, target)[0] == OWNER


def test_children_of_deleted_parents_still_have_a_target_and_an_owner() -> None:
    parents = Parents()
    for each in (COLLECTION, PROJECT):
        parents.learn(each)
        parents.forget(each)
    layout = entry("Layout", "l", projectId="p")
    target = parents.target(layout)
    assert target == Target("c", "p", "l")
    assert parents.audiences(layout, target) == (OWNER, project_key("s", "p"))


def test_an_object_without_known_parents_has_no_owner() -> None:
    layout = entry("Layout", "l", projectId="p")
    target = Parents().target(layout)
    assert target == Target(None, "p", "l")
    assert Parents().audiences(layout, target) == ()


def test_guests_of_an_earlier_project_of_the_same_id_see_nothing_of_a_later_one() -> None:
    parents = Parents()
    parents.learn(COLLECTION)
    parents.learn(PROJECT)
    parents.forget(PROJECT)
    later = entry("Project", "p", collectionId="c")
    later.uid = "later"
    parents.learn(later)
    target = Target("c", "p")
    new, old = (OWNER, project_key("s", "later")), (OWNER, project_key("s", "p"))
    assert parents.audiences(later, target) == new
    assert parents.audiences(PROJECT, target) == old
    assert parents.audiences(entry("Destination", "d", projectId="p"), target) == new
    assert parents.audiences(of_project(entry("Destination", "d", projectId="p"), "p"), target) == old
    source = entry("Source", "so", collectionId="c")
    assert parents.audiences(source, Target("c"), ["p", "unknown"]) == new


def test_what_was_looked_up_is_kept_as_what_is_deleted_until_a_watch_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parents_module, "DELETED_KEPT", 2)
    parents = Parents()
    layout = entry("Layout", "l", projectId="p")
    assert parents.missing(layout) == ("Project", "p")
    parents.remember(PROJECT)
    assert parents.missing(layout) == ("Collection", "c")
    parents.remember(COLLECTION)
    assert parents.missing(layout) is None
    parents.learn(COLLECTION)
    for number in range(2):
        parents.remember(entry("Project", f"other-{number}", collectionId="c"))
    assert parents.missing(layout) == ("Project", "p")
    assert parents.missing(PROJECT) is None, "the watch has brought its collection"
