"""The store when lists, watches and writes arrive in any order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.kube.store import Change, IndexKey, Store, creation_order
from onair_crds.resources.collection import Collection
from onair_crds.shapes import Document


def by_teams(document: Document) -> list[IndexKey]:
    return [(team,) for team in document["spec"].get("teams", [])]


def new_store() -> Store:
    return Store({"Show": {"team": by_teams}, "Plain": {}})


def show(
    name: str, version: int, uid: str = "", teams: tuple[str, ...] = ("a",), **metadata: Any
) -> Document:
    return {
        "metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version), **metadata},
        "spec": {"teams": list(teams)},
    }


def names(store: Store, team: str) -> list[str]:
    return [entry.name for entry in store.select("Show", "team", team)]


def test_what_is_no_news_is_not_trimmed() -> None:
    trimmed: list[str] = []

    def trim(document: Document) -> Document:
        trimmed.append(document["metadata"]["resourceVersion"])
        return {"metadata": document["metadata"], "spec": {}}

    store = Store({"Show": {}}, {"Show": trim})
    assert store.update("Show", show("a", 5))
    for version in (5, 4):
        assert store.update("Show", show("a", version)) is None
    change = store.update("Show", show("a", 6))
    assert change
    assert change.entry.spec == {}
    assert store.remove("Show", "a", "uid-a")
    assert store.update("Show", show("a", 7)) is None
    assert trimmed == ["5", "6"]


def test_an_older_version_never_replaces_a_newer_one() -> None:
    store = new_store()
    assert store.update("Show", show("a", 5))
    assert store.update("Show", show("a", 4)) is None
    assert store.update("Show", show("a", 5)) is None
    change = store.update("Show", show("a", 6))
    assert change
    assert change.before
    assert change.after
    assert (change.before.version, change.after.version) == (5, 6)


def test_versions_are_compared_as_numbers() -> None:
    store = new_store()
    store.update("Show", show("a", 9))
    assert store.update("Show", show("a", 10))


def test_a_deleted_object_stays_deleted_whatever_arrives_late() -> None:
    store = new_store()
    store.update("Show", show("a", 5))
    assert store.remove("Show", "a", "uid-a")
    assert store.update("Show", show("a", 7)) is None
    assert store.entry("Show", "a") is None
    assert names(store, "a") == []


def test_an_object_recreated_under_its_name_is_another() -> None:
    store = new_store()
    store.update("Show", show("a", 5, uid="one"))
    store.remove("Show", "a", "one")
    assert store.update("Show", show("a", 7, uid="two"))
    assert store.remove("Show", "a", "one") is None
    assert store.entry("Show", "a")


def test_a_late_version_of_an_earlier_object_does_not_replace_its_successor() -> None:
    store = new_store()
    store.update("Show", show("a", 7, uid="two"))
    assert store.update("Show", show("a", 5, uid="one")) is None
    entry = store.entry("Show", "a")
    assert entry
    assert entry.uid == "two"


def test_an_object_is_found_by_each_of_its_keys_and_by_no_former_one() -> None:
    store = new_store()
    store.update("Show", show("one", 1, teams=("a", "b")))
    store.update("Show", show("another", 2, teams=("a",)))
    assert (names(store, "a"), names(store, "b")) == (["another", "one"], ["one"])
    store.update("Show", show("one", 3, teams=("b", "c")))
    assert (names(store, "a"), names(store, "b"), names(store, "c")) == (["another"], ["one"], ["one"])


def test_managed_fields_are_not_kept() -> None:
    store = new_store()
    document = show("one", 1)
    document["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    store.update("Show", document)
    entry = store.entry("Show", "one")
    assert entry
    assert "managedFields" not in entry.document["metadata"]


def test_a_list_drops_what_it_lacks_but_not_what_is_newer() -> None:
    store = new_store()
    store.update("Show", show("old", 5))
    store.update("Show", show("own-write", 12))
    store.update("Show", show("listed", 8))
    changes = store.drop_missing("Show", {"uid-listed"}, 10)
    assert names(store, "a") == ["listed", "own-write"]
    assert [(change.entry.name, change.after) for change in changes] == [("old", None)]
    assert store.drop_missing("Show", {"uid-listed"}, 10) == []


def test_where_versions_went_back_everything_is_news_until_a_list_is_complete() -> None:
    store = new_store()
    store.update("Plain", show("other", 90))
    store.remove("Plain", "other", "uid-other")
    for name in ("edited", "same", "made-since"):
        store.update("Show", show(name, 90))
    store.remove("Show", "deleted-since", "uid-deleted-since")
    assert store.version("Show") == 90
    store.start_over("Show", 50)
    assert (store.version("Show"), store.restores) == (50, 1)
    assert names(store, "a") == ["edited", "made-since", "same"], "what is known stays for now"
    for listed in (show("edited", 52), show("same", 90), show("deleted-since", 30)):
        assert store.update("Show", listed)
    alive = {"uid-edited", "uid-same", "uid-deleted-since"}
    assert [change.entry.name for change in store.drop_missing("Show", alive, 55)] == ["made-since"]
    assert names(store, "a") == ["deleted-since", "edited", "same"]
    assert store.update("Show", show("edited", 51)) is None, "versions count again"
    assert store.update("Plain", show("other", 91)) is None, "other kinds did not begin anew"


def test_what_is_read_after_another_version_was_known_is_newer_whatever_its_number() -> None:
    store = new_store()
    store.update("Show", show("a", 90))
    known = store.entry("Show", "a")
    assert store.read_again("Show", known, show("a", 90)) is None
    assert store.read_again("Show", known, show("a", 51))
    assert store.update("Show", show("a", 52)), "as the next write responds"
    assert store.read_again("Show", known, show("a", 51)) is None, "the write came after the read began"
    assert store.read_again("Show", None, show("new", 10))


@given(st.permutations(range(1, 7)), st.integers(0, 6))
def test_any_order_of_versions_ends_at_the_newest(versions: list[int], deleted_after: int) -> None:
    store = new_store()
    for position, version in enumerate(versions):
        if position == deleted_after:
            store.remove("Show", "a", "uid-a")
        store.update("Show", show("a", version, teams=(f"t{version % 2}",)))
    found = [names(store, team) for team in ("t0", "t1")]
    assert found == ([[], []] if deleted_after < len(versions) else [["a"], []])


def test_listeners_are_notified_of_every_change_and_of_nothing_else() -> None:
    store, notified = new_store(), []
    store.on_change("Show", lambda: notified.append(1))
    for _ in range(3):
        store.update("Show", show("a", 5))
    store.remove("Show", "a", "other")
    store.update("Plain", show("a", 6))
    assert len(notified) == 1
    store.remove("Show", "a", "uid-a")
    assert len(notified) == 2


def test_a_model_is_parsed_once() -> None:
    store = new_store()
    document = {**show("a", 1), "spec": {"owner": {"serviceId": "studio", "serviceUserId": "anna"}}}
    change = store.update("Plain", document)
    assert change
    collection = change.entry.model(Collection)
    assert collection.spec.owner.service_user_id == "anna"
    assert change.entry.model(Collection) is collection


def test_a_change_of_nothing_has_no_entry() -> None:
    with pytest.raises(ValueError, match="nothing"):
        _ = Change(None, None).entry


def test_creation_times_of_seconds_and_microseconds_sort_together() -> None:
    second = {"name": "b", "creationTimestamp": "2026-01-01T00:00:01Z"}
    finer = {"name": "a", "annotations": {"onair.dev/created": "2026-01-01T00:00:00.999999Z"}}
    assert creation_order(finer) < creation_order(second)


def test_a_store_keeps_the_part_of_a_kind_that_it_is_told_to() -> None:
    store = Store(
        {"Layout": {"project": lambda d: [(d["spec"]["projectId"],)]}},
        {"Layout": lambda d: {"metadata": d["metadata"], "spec": {"projectId": d["spec"]["projectId"]}}},
    )
    layout = {
        "metadata": {"name": "stage", "uid": "u", "resourceVersion": "1", "managedFields": ["large"]},
        "spec": {"projectId": "show", "layers": ["large"]},
    }
    store.update("Layout", layout)
    (entry,) = store.select("Layout", "project", "show")
    assert entry.document == {
        "metadata": {"name": "stage", "uid": "u", "resourceVersion": "1"},
        "spec": {"projectId": "show"},
    }
