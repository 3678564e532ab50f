"""What the facade reads: nothing that is being deleted, children oldest first."""

from __future__ import annotations

from typing import Any

from structlog.testing import capture_logs

from onair_api.cache.view import View
from onair_api.cache.watched_kinds import PROJECT, ROOM, SHOWN
from onair_crds.contract.rooms import room_name
from onair_crds.kube.store import Change
from onair_crds.shapes import Document


def project(name: str, version: int, **metadata: Any) -> Document:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), **metadata},
        "spec": {"collectionId": "c"},
    }


def test_the_newest_version_is_given_back_whatever_comes_first() -> None:
    view = View()
    for version, newest in ((10, 10), (9, 10), (11, 11)):
        entry = view.put(PROJECT, project("a", version))
        assert entry
        assert entry.version == newest


def test_a_deleted_object_is_not_given_back() -> None:
    view = View()
    view.put(PROJECT, project("a", 5))
    view.remove(PROJECT, "a", "uid-a")
    assert view.put(PROJECT, project("a", 6)) is None


def test_an_object_that_is_being_deleted_is_not_seen() -> None:
    view = View()
    view.put(PROJECT, project("a", 5, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert view.get(PROJECT, "a") is None
    assert view.children(PROJECT, "c") == []


def test_children_come_oldest_first_by_the_finer_time() -> None:
    view = View()
    times: dict[str, Document] = {
        "c": {"creationTimestamp": "2026-01-01T00:00:01Z"},
        "b": {"annotations": {"onair.dev/created": "2026-01-01T00:00:00.000002Z"}},
        "a": {"annotations": {"onair.dev/created": "2026-01-01T00:00:00.000010Z"}},
        "d": {"creationTimestamp": "2026-01-01T00:00:00Z"},
    }
    for number, (name, metadata) in enumerate(times.items()):
        view.put(PROJECT, project(name, number + 1, **metadata))
    assert [e.name for e in view.children(PROJECT, "c")] == ["d", "b", "a", "c"]


def test_a_project_is_found_by_its_room() -> None:
    view = View()
    for name in ("a", "b"):
        view.put(PROJECT, project(name, 5))
    assert [each.name for each in view.select(PROJECT, ROOM, room_name("uid-a"))] == ["a"]
    view.remove(PROJECT, "a", "uid-a")
    assert view.select(PROJECT, ROOM, room_name("uid-a")) == []


def test_projects_are_found_by_their_sources() -> None:
    view = View()
    for version, (name, sources) in enumerate({"b": ["s", "t"], "a": ["s"], "c": []}.items(), 1):
        shown = project(name, version, creationTimestamp=f"2026-01-01T00:00:0{version}Z")
        shown["spec"]["sources"] = [{"sourceId": each} for each in sources]
        view.put(PROJECT, shown)
    assert [each.name for each in view.found(PROJECT, SHOWN, "c", "s")] == ["b", "a"]
    assert view.found(PROJECT, SHOWN, "another", "s") == []
    view.put(PROJECT, project("b", 4))
    assert [each.name for each in view.found(PROJECT, SHOWN, "c", "s")] == ["a"]


def test_who_cannot_follow_a_change_of_one_object_ends_nobodys_watch() -> None:
    view, followed = View(), list[str]()

    def follow(change: Change) -> None:
        followed.append(change.entry.name)
        if change.entry.name == "broken":
            raise ValueError("hidden")

    view.follow(follow)
    with capture_logs() as logged:
        for name in ("broken", "whole"):
            assert view.update(PROJECT, project(name, 5))
        assert view.remove(PROJECT, "broken", "uid-broken")
    assert followed == ["broken", "whole", "broken"]
    assert [each["event"] for each in logged] == ["view.change_not_followed"] * 2
    assert "hidden" not in str(logged)
