"""What is remembered of layouts that are gone."""

from __future__ import annotations

import pytest
from tests.support.settable_clock import SettableClock

from onair_api.cache import gone_layouts
from onair_api.cache.gone_layouts import GoneLayouts, Place
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import LAYOUT, PROJECT
from onair_crds.shapes import Document


def document(name: str, **metadata: object) -> Document:
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "ownerReferences": [{"kind": "Project", "uid": "uid-p"}],
            **metadata,
        },
        "spec": {"projectId": "p", "collectionId": "c"},
    }


def test_a_layout_that_is_deleted_is_known_for_a_while() -> None:
    view, clock = View(), SettableClock(100.0)
    view.gone_layouts = GoneLayouts(clock)
    view.update(LAYOUT, document("a"))
    view.update(PROJECT, document("p"))
    assert view.gone_layouts.place("a") is None
    view.remove(LAYOUT, "a", "another")
    assert view.gone_layouts.place("a") is None
    view.remove(LAYOUT, "a", "uid-a")
    view.remove(PROJECT, "p", "uid-p")
    assert view.gone_layouts.place("a") == Place("c", "p", "uid-p")
    assert view.gone_layouts.place("p") is None
    clock.now += gone_layouts.KEPT_S
    assert view.gone_layouts.place("a") is None


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gone_layouts, "MOST", 2)
    view, gone = View(), GoneLayouts()
    for name in ("a", "b", "a", "c"):
        view.update(LAYOUT, document(name))
        entry = view.entry(LAYOUT, name)
        assert entry
        gone.remember(entry)
    assert [name for name in "abc" if gone.place(name)] == ["a", "c"]
