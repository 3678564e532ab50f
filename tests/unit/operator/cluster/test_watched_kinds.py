"""What the operator keeps of the objects that it watches."""

from __future__ import annotations

import pytest
from tests.support.documents import document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import COLLECTION, DESTINATION, KINDS, PROJECT, SOURCE, TRIMS


@pytest.mark.parametrize("kind", [COLLECTION, PROJECT, SOURCE, DESTINATION])
def test_what_owners_note_about_their_resources_is_not_kept(kind: str) -> None:
    store = Store(KINDS, TRIMS)
    sent = document("a", {"collectionId": "c", "metadata": {"notes": ["x"] * 100}})
    store.update(kind, sent)
    entry = store.entry(kind, "a")
    assert entry
    assert entry.spec == {"collectionId": "c"}
    assert entry.metadata["name"] == "a"
    assert "metadata" in sent["spec"]
