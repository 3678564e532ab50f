"""Sources as their projects have them."""

from __future__ import annotations

from onair_api.live.source.service import without_source
from onair_crds.shapes import JsonObject


def test_a_project_without_a_source_has_the_others_and_the_stored_metadata() -> None:
    spec: JsonObject = {"metadata": {"a": [[]]}, "sources": [{"sourceId": "a"}, {"sourceId": "b"}]}
    changed = without_source(spec, "a")
    assert changed == {"metadata": {"a": [[]]}, "sources": [{"sourceId": "b"}]}
    assert changed["metadata"] is spec["metadata"]
    assert spec["sources"] == [{"sourceId": "a"}, {"sourceId": "b"}]
