"""What sources make of a project's spec."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.owned_project import HOST, IDS, cluster_with
from tests.support.recording_writer import RecordingWriter

from onair_api.live.project.project_sources import ProjectSources
from onair_api.settings import LimitSettings
from onair_crds.shapes import JsonObject

TRIGGER: JsonObject = {"sourceId": "s", "trigger": {"start": "Or"}}


@pytest.mark.parametrize(
    ("change", "before"), [("add", []), ("add", [TRIGGER]), ("update", [TRIGGER]), ("remove", [TRIGGER])]
)
async def test_a_change_of_a_source_leaves_the_stored_metadata(change: str, before: list[JsonObject]) -> None:
    cluster, project = cluster_with({"metadata": {"a": [[]]}, "sources": before})
    writer: Any = RecordingWriter()

    async def record(*_: object, **__: object) -> JsonObject:
        return {}

    records: Any = SimpleNamespace(record=record)
    sources = ProjectSources(cluster, writer, records, LimitSettings())
    await getattr(sources, change)(
        HOST, IDS, {"trigger": {"stop": "SOURCE_TRIGGER_ACTION_OR"}, "force": False}
    )
    (wanted,) = writer.wanted
    assert [each["sourceId"] for each in wanted["sources"]] == ([] if change == "remove" else ["s"])
    assert wanted["metadata"] is project.spec["metadata"]
