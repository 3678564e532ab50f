"""Measures a tenant's requests and events alone, and while another does all that their token lets them.

Figures of both are of one run and one facade, with the limits that an installation has.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import nullcontext

import pytest
from tests.support.facade import StoredResources
from tests.support.own_cpus import on_its_own_cpus
from tests.support.quiet_tenant import QuietTenant
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess

STREAMS, WILDCARDS = 1000, 256
MEASURED_S = 20.0
BOUND = 2.0
"""Times what it is alone."""


def p99(of: list[float]) -> float:
    return statistics.quantiles(of, n=100)[-1]


@pytest.mark.parametrize("apart", [True, False], ids=["on its own CPUs", "all on the same CPUs"])
def test_a_hostile_tenant_costs_another_little(
    limited_replica: ReplicaProcess,
    programs: list[MeasuredProcess],
    resources: StoredResources,
    report: Callable[..., float],
    apart: bool,
) -> None:
    """With the facade on CPUs of its own, and Redis and the quiet tenant waiting for none, as with a computer
    each; and with all of them, the API server and the attacker in each other's way.
    """
    replica = limited_replica
    quiet = QuietTenant(replica.port, replica.token)
    other = replica.sign_in(resources.add_api_key("stranger"), "mallory")
    with on_its_own_cpus(replica.program.process.pid, "redis-server") if apart else nullcontext():
        alone = quiet.measure(MEASURED_S)
    arguments = [str(replica.port), other, str(STREAMS), str(WILDCARDS)]
    attacker = MeasuredProcess([str(LOAD / "hostile_tenant.py"), *arguments])
    programs.append(attacker)
    assert attacker.line() == {"open": STREAMS}
    with on_its_own_cpus(replica.program.process.pid, "redis-server") if apart else nullcontext():
        used = replica.program.cpu_s()
        among = quiet.measure(MEASURED_S)
        used = replica.program.cpu_s() - used
    tenant = "hostile tenant" if apart else "hostile tenant on the same CPUs"
    report(f"{tenant}: CPU of the facade meanwhile", [used / MEASURED_S], "core")
    said, _ = attacker.process.communicate("end\n", timeout=60)
    print(f"the attacker was answered: {said.strip()}")
    ratios = []
    for what, mine, beside in zip(("request", "publish → event"), alone, among, strict=True):
        for name, percentile in (("p50", statistics.median), ("p99", p99)):
            report(f"{tenant}: another's {what} alone, {name}", [percentile(mine)], "ms")
            report(f"{tenant}: another's {what} beside it, {name}", [percentile(beside)], "ms")
        ratio = p99(beside) / p99(mine)
        ratios.append(report(f"{tenant}: {what} p99, beside it ÷ alone", [ratio], "×", BOUND))
    if apart:
        assert max(ratios) < 2 * BOUND
