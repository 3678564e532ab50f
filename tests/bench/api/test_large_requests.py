"""Measures what a tenant's largest requests, many at once, cost another tenant."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable

import pytest
from tests.support.facade import StoredResources
from tests.support.own_cpus import on_its_own_cpus
from tests.support.quiet_tenant import QuietTenant
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess

MEASURED_S = 12.0
BOUND = 2.0
"""Times what it is alone; of p95, see `test_hostile_tenant.py`."""
ENDED_S = 60


@pytest.mark.parametrize(("kind", "clients"), [("batches", 1), ("batches", 16), ("reads", 16)])
def test_large_requests_cost_another_tenant_little(
    limited_replica: ReplicaProcess,
    programs: list[MeasuredProcess],
    resources: StoredResources,
    report: Callable[..., float],
    kind: str,
    clients: int,
) -> None:
    replica = limited_replica
    quiet = QuietTenant(replica.port, replica.token)
    token = replica.sign_in(resources.add_api_key("large"), "mallory")
    with on_its_own_cpus(replica.program.process.pid, "redis-server"):
        alone = quiet.measure(MEASURED_S)
    arguments = [str(replica.port), token, kind, str(clients)]
    attacker = MeasuredProcess([str(LOAD / "large_requests.py"), *arguments])
    programs.append(attacker)
    assert attacker.line() == {"begun": kind}
    with on_its_own_cpus(replica.program.process.pid, "redis-server"):
        beside = quiet.measure(MEASURED_S)
    said, _ = attacker.process.communicate("end\n", timeout=ENDED_S)
    answered = json.loads(said)
    name = f"large requests: {clients} × {kind}"
    report(f"{name}, answered", [answered.get("200", 0) / MEASURED_S], "/s")
    assert answered.get("200"), answered
    for what, mine, other in zip(("request", "publish → event"), alone, beside, strict=True):
        for number in (50, 95, 99):
            one, two = (statistics.quantiles(each, n=100)[number - 1] for each in (mine, other))
            report(f"{name}: another's {what} alone, p{number}", [one], "ms")
            report(f"{name}: another's {what} beside it, p{number}", [two], "ms")
            if number == 95:
                report(f"{name}: {what} p95, beside it ÷ alone", [two / one], "×", BOUND)
