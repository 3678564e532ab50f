"""The annotation that a request leaves on an object."""

from __future__ import annotations

import pytest

from onair_api.writes.request_note import RequestNote, StoredNote, note_of
from onair_crds.contract.labels import REQUEST_ANNOTATION
from onair_crds.kube.store import Entry


def stored(annotations: object) -> Entry:
    metadata = {"name": "a", "uid": "a", "resourceVersion": "1", "annotations": annotations}
    return Entry("Layout", {"metadata": metadata})


@pytest.mark.parametrize("has_details", [False, True])
def test_a_note_survives_on_the_object(has_details: bool) -> None:
    note = RequestNote("studio", {"why": 1}, "n1", has_details)
    assert note_of(stored(note.annotations())) == StoredNote("n1", "studio", {"why": 1}, has_details)


def test_each_write_has_a_nonce_of_its_own() -> None:
    note = RequestNote("studio")
    first, second = (note_of(stored(note.annotations())) for _ in range(2))
    assert first
    assert second
    assert first.nonce != second.nonce


def test_a_note_that_does_not_say_whether_there_are_details_may_have_some() -> None:
    note = note_of(stored({REQUEST_ANNOTATION: '{"nonce":"n1"}'}))
    assert note
    assert note.may_have_details


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"nonce":1}', 5, None])
def test_what_nobody_here_wrote_is_no_note(text: object) -> None:
    assert note_of(stored({REQUEST_ANNOTATION: text})) is None
    assert note_of(stored(None)) is None
    assert note_of(None) is None
