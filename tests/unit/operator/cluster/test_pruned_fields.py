"""Fields of a status that the cluster's CRDs lack are told once, and each such write is counted."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from tests.support.applier import ApplierSetting
from tests.support.worlds import project

from onair_crds.resources.project import ProjectStatus
from onair_operator.cluster.actions import WriteStatus
from onair_operator.cluster.pruned_fields import PrunedFields

STATUS = {"state": "OnAir", "broadcast": {"id": "run", "epoch": 1}, "triggers": [{"a": 1}, {"a": 2, "b": 3}]}


def counted(kind: str) -> float:
    return REGISTRY.get_sample_value("onair_operator_pruned_statuses_total", {"kind": kind}) or 0.0


@pytest.mark.parametrize(
    ("stored", "fields"),
    [
        (STATUS, []),
        ({**STATUS, "more": 1}, []),
        ({**STATUS, "broadcast": {"id": "run"}}, ["status.broadcast.epoch"]),
        ({**STATUS, "triggers": [{"a": 1}, {"a": 2}]}, ["status.triggers.b"]),
        (None, ["status.broadcast", "status.state", "status.triggers"]),
    ],
)
def test_what_is_written_and_not_stored_is_told(stored: Any, fields: list[str]) -> None:
    before = counted("Project")
    with capture_logs() as logs:
        PrunedFields().compare("Project", STATUS, stored)
    assert [each["fields"] for each in logs] == ([fields] if fields else [])
    assert counted("Project") == before + bool(fields)


def test_each_field_is_told_once_and_each_write_is_counted() -> None:
    pruned, before = PrunedFields(), counted("Source")
    with capture_logs() as logs:
        for stored in ({"b": 1}, {"b": 1}, {}):
            pruned.compare("Source", {"a": 1, "b": 1}, stored)
        pruned.compare("Destination", {"a": 1}, {})
    told = [(each["kind"], each["fields"]) for each in logs]
    assert told == [("Source", ["status.a"]), ("Source", ["status.b"]), ("Destination", ["status.a"])]
    assert counted("Source") == before + 3


async def test_the_response_to_a_status_is_looked_at() -> None:
    setting = ApplierSetting()
    with capture_logs() as logs:
        await setting.applier.apply([WriteStatus(project(), ProjectStatus(state="OnAir"))])
        assert logs == []
        setting.api.pruned = {"state"}
        await setting.applier.apply([WriteStatus(project(), ProjectStatus(state="OnAir"))])
    assert [(each["event"], each["fields"]) for each in logs] == [("status.pruned", ["status.state"])]
