"""What the encoder exports: all that the dashboard queries, and what it reports of recordings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prometheus_client import generate_latest

from onair_crds.contract.program import ProgramDestination
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.metrics import AgentMetrics, registry_of
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.supplied_destination import SuppliedDestination

DASHBOARD = Path(__file__).parents[4] / "charts/onair/files/dashboards/onair-shows.json"


def test_every_metric_of_the_dashboard_exists(tmp_path: Path) -> None:
    text = generate_latest(registry_of(Agent(tmp_path / "program.json"))).decode()
    exported = set(re.findall(r"^(?:# TYPE )?(\w+)", text, re.MULTILINE))
    panels = json.loads(DASHBOARD.read_text())["panels"]
    queried = {
        name for p in panels for t in p["targets"] for name in re.findall(r"onair_[a-z_]+(?=\{)", t["expr"])
    }
    assert len(queried) > 10
    assert queried <= exported


def test_the_slate_is_exported_while_it_is_on_air_and_counted(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "program.json")
    registry = registry_of(agent)
    for on_slate, slates in ((False, 0), (True, 1), (False, 1)):
        agent.switch.on_slate, agent.switch.slates = on_slate, slates
        assert registry.get_sample_value("onair_encoder_on_slate") == on_slate
        assert registry.get_sample_value("onair_encoder_slates_total") == slates


def test_what_a_recording_lacks_is_what_the_operator_is_told() -> None:
    archive = SuppliedDestination(ProgramDestination(id="archive", type="HLS"), FanOut(), lambda: None)
    archive.recorded(7.04, 12.04)
    agent: Any = SimpleNamespace(destinations=[archive])
    found = {
        sample.name: sample.value
        for metric in AgentMetrics(agent)._destinations()
        for sample in metric.samples
        if sample.labels == {"destination": "archive", "kind": "HLS"}
    }
    assert found["onair_destination_waiting_seconds"] == archive.state.waiting_s == 7.0
    assert found["onair_destination_missing_seconds"] == archive.state.missing_s == 12.0


def test_the_level_of_each_layer_is_exported() -> None:
    levels = {"microphone": -18.5, "video": -120.0}
    agent: Any = SimpleNamespace(page=SimpleNamespace(scene=SimpleNamespace(levels=levels)))
    [metric] = AgentMetrics(agent)._levels()
    assert metric.name == "onair_encoder_layer_level_dbfs"
    assert {sample.labels["layer"]: sample.value for sample in metric.samples} == levels
