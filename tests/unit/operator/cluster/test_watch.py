"""The store is fed by watches; kopf is started again without consequences."""

from __future__ import annotations

from typing import Any, cast

from tests.support.documents import document

from onair_crds.kube.store import Change, Store
from onair_operator.cluster.watch import LIST_CHUNK, Watch, kopf_settings
from onair_operator.cluster.watched_kinds import KINDS


def test_an_event_is_reported_once_and_every_one_is_heard() -> None:
    changes: list[Change] = []
    heard: list[str] = []

    class RecordingResync:
        def heard(self, kind: str) -> None:
            heard.append(kind)

    watch = Watch(
        cast(Any, None), Store(KINDS), "shows", changes.append, lambda: None, cast(Any, RecordingResync())
    )
    new = document("show", {"collectionId": "sunday"})
    for type_ in (None, "ADDED", "MODIFIED", "DELETED", "DELETED"):
        watch.event("Project", type_, new)
    assert [(change.entry.name, change.after is not None) for change in changes] == [
        ("show", True),
        ("show", False),
    ]
    assert heard == ["Project"] * 5


def test_kopf_never_kills_this_process_and_lists_in_pages() -> None:
    settings = kopf_settings()
    assert settings.process.ultimate_exiting_timeout is None
    assert settings.watching.chunk_size == LIST_CHUNK
    assert settings.watching.inactivity_timeout
