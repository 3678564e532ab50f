"""Collections are accepted."""

from __future__ import annotations

from tests.support.worlds import NOW, SETTINGS, collection

from onair_operator.cluster.actions import WriteStatus
from onair_operator.collection.observe import ObservedCollection
from onair_operator.collection.plan import make_plan


def test_a_collection_is_accepted_once() -> None:
    new = collection()
    (write,) = make_plan(ObservedCollection(new), NOW, SETTINGS)
    assert isinstance(write, WriteStatus)
    assert [(c.type, c.status, c.reason) for c in write.status.conditions] == [("Ready", "True", "Accepted")]
    accepted = new.model_copy(update={"status": write.status})
    assert make_plan(ObservedCollection(accepted), NOW, SETTINGS) == []


def test_a_collection_under_deletion_is_left_alone() -> None:
    deleted = collection(deletionTimestamp="2026-05-01T12:00:00Z")
    assert make_plan(ObservedCollection(deleted), NOW, SETTINGS) == []
