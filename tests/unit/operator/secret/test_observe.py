"""What a Secret was made for, and whether that exists."""

from __future__ import annotations

from typing import Any, cast

from tests.support.documents import credentials_document, destination_document, document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.secret.observe import observe


def in_use(store: Store, name: str) -> bool | None:
    observed = observe(World(store, *cast(Any, (None, None, None))), name)
    return observed.in_use if observed else None


def test_credentials_are_in_use_while_their_destination_or_source_exists() -> None:
    store = Store(KINDS)
    store.update("Destination", destination_document("main", "show"))
    store.update("Source", document("camera", {"collectionId": "c"}))
    for secret in (
        credentials_document("key", "main"),
        credentials_document("source-camera", "camera", "source"),
        credentials_document("orphan", "gone"),
        document("other"),
    ):
        store.update("Secret", secret)
    assert [in_use(store, name) for name in ("key", "source-camera", "orphan", "other", "none")] == [
        True,
        True,
        False,
        None,
        None,
    ]
