"""Alerts of the chart are documented as they are, and look at metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml
from prometheus_client import REGISTRY

import onair_operator.runtime
from onair_ingest.admission.admission import Reason

ROOT = Path(__file__).parents[2]
RULES = yaml.safe_load((ROOT / "charts/onair/files/alerts.yaml").read_text())["groups"][0]["rules"]
REFERENCE = ROOT / "docs/reference"
METRIC = re.compile(r"\bonair_[a-z_]+")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_is_in_the_table_and_its_metrics_are_documented(rule: dict[str, str]) -> None:
    page = (REFERENCE / "metrics.md").read_text()
    expression = rule["expr"].replace("|", "\\|")
    assert f"| {rule['alert']} | `{expression}` | {rule.get('for', '')} |" in page
    documented = page.partition("## Alerts")[0] + (REFERENCE / "ingest.md").read_text()
    assert {each for each in METRIC.findall(rule["expr"]) if f"`{each}`" not in documented} == set()


def test_the_table_has_no_other_alert() -> None:
    table = (REFERENCE / "metrics.md").read_text().partition("## Alerts")[2]
    assert re.findall(r"^\| (OnAir\w+) \|", table, re.MULTILINE) == [each["alert"] for each in RULES]


def test_outcomes_and_reasons_that_alerts_count_are_known() -> None:
    """`increase` does not see the first one of a counter that comes with it."""
    assert onair_operator.runtime
    counted = "".join(each["expr"] for each in RULES)
    for outcome in re.findall(r'outcome="(\w+)"', counted):
        labels = {"outcome": outcome}
        assert REGISTRY.get_sample_value("onair_operator_reconciles_total", labels) is not None
    assert set(re.findall(r'reason="(\w+)"', counted)) <= set(get_args(Reason))
