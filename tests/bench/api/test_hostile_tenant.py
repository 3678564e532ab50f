"""Measures a tenant's requests and events alone, and while another does all that their token lets them.

Figures of both are of one run and one facade, with the limits that an installation has.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from contextlib import nullcontext

import pytest
from tests.support.facade import StoredResources
from tests.support.own_cpus import on_its_own_cpus
from tests.support.quiet_tenant import QuietTenant
from tests.support.replica import LOAD, MeasuredProcess, ReplicaProcess

from onair_api.settings import EventSettings
from onair_crds.shapes import JsonObject

STREAMS, WILDCARDS = 1000, 256
MEASURED_S = 20.0
BOUND = 2.0
"""Times what it is alone."""
MADE_S = 120
"""Until the attacker has an answer to all that it asked."""
LIMIT = "api.rateLimits.perToken"
PERCENTILES = (50, 95, 99)


def percentile(of: list[float], number: int) -> float:
    return statistics.quantiles(of, n=100)[number - 1]


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
    key = resources.add_api_key("stranger")
    tokens = [replica.sign_in(key, "mallory") for _ in range(2)]
    with on_its_own_cpus(replica.program.process.pid, "redis-server") if apart else nullcontext():
        alone = quiet.measure(MEASURED_S)
    arguments = [str(replica.port), *tokens, str(STREAMS), str(WILDCARDS)]
    attacker = MeasuredProcess([str(LOAD / "hostile_tenant.py"), *arguments])
    programs.append(attacker)
    assert_began(attacker.line())
    with on_its_own_cpus(replica.program.process.pid, "redis-server") if apart else nullcontext():
        used = replica.program.cpu_s()
        among = quiet.measure(MEASURED_S)
        used = replica.program.cpu_s() - used
    tenant = "hostile tenant" if apart else "hostile tenant on the same CPUs"
    report(f"{tenant}: CPU of the facade meanwhile", [used / MEASURED_S], "core")
    said, _ = attacker.process.communicate("end\n", timeout=MADE_S)
    print(f"the attacker was answered: {said.strip()}")
    ratios: list[float] = []
    for what, mine, beside in zip(("request", "publish → event"), alone, among, strict=True):
        for number in PERCENTILES:
            one, other = percentile(mine, number), percentile(beside, number)
            report(f"{tenant}: another's {what} alone, p{number}", [one], "ms")
            report(f"{tenant}: another's {what} beside it, p{number}", [other], "ms")
            if number > 50:
                name = f"{tenant}: {what} p{number}, beside it ÷ alone"
                ratio = report(name, [other / one], "×", BOUND)
                ratios.append(ratio)
    report_attack(json.loads(said), tenant, report)
    if apart:
        assert max(ratios) < 2 * BOUND


def assert_began(began: JsonObject) -> None:
    """All streams are open, and one has been given as many wildcards as a token may have."""
    most = EventSettings().wildcards_per_token
    refused = {"api.events.wildcardsPerToken": WILDCARDS - most}
    assert began == {"open": STREAMS, "wildcards of one": {"accepted": most, "refused": refused}}


def report_attack(said: JsonObject, tenant: str, report: Callable[..., float]) -> None:
    """Fails where a part of the attack was neither accepted nor refused by the quota that is there for it."""
    seconds, wildcards, metadata, streams = (
        said[each] for each in ("seconds", "wildcards", "metadata", "streams")
    )
    assert seconds > 0.9 * MEASURED_S
    assert wildcards["asked"] == (STREAMS - 1) * WILDCARDS
    answered = wildcards["accepted"] + sum(wildcards["refused"].values())
    assert answered < wildcards["asked"], "it goes on asking to the end"
    assert wildcards["refused"].keys() <= {LIMIT, "api.events.namesPerToken", "api.events.wildcardsPerToken"}
    assert wildcards["accepted"] > STREAMS, "of the patterns that its token has"
    assert wildcards["refused"][LIMIT] > 0
    assert streams["ended"] == 0
    for part in ("publish", "metadata", "foreign"):
        assert said[part]["refused"].keys() <= {f"429 {LIMIT}"}, part
        assert said[part]["accepted"] > seconds, f"{part}: all the time"
    report(f"{tenant}: streams that it has open", [STREAMS], "")
    for verdict, answers in (("accepted", wildcards["accepted"]), *wildcards["refused"].items()):
        report(f"{tenant}: wildcards asked for, {verdict}", [answers], "")
    report(f"{tenant}: wildcards asked for, not answered yet", [wildcards["asked"] - answered], "")
    for part in ("publish", "foreign"):
        for verdict, answers in (("accepted", said[part]["accepted"]), *said[part]["refused"].items()):
            report(f"{tenant}: {part}, {verdict}", [answers / seconds], "/s")
    for verdict, answers in (("accepted", metadata["accepted"]), *metadata["refused"].items()):
        report(f"{tenant}: metadata, {verdict}", [answers * metadata["bytes"] / seconds / 1e6], "MB/s")
    report(f"{tenant}: events that it was sent", [streams["bytes"] / 1e6], "MB")
    report(f"{tenant}: streams that were told of losses", [streams["told of losses"]], "")
