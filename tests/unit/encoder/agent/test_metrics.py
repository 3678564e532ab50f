"""The dashboard queries nothing that the encoder does not export."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client import generate_latest

from onair_encoder.agent.agent import Agent
from onair_encoder.agent.metrics import registry_of

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
