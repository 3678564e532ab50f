"""Pulls stay with their gateway while it can be reached, and move, spread, when it cannot."""

from __future__ import annotations

from collections import Counter

from tests.support.sources import gateway

from onair_operator.ingest.assignment import puller_of
from onair_operator.ingest.observed import GatewayContact

THREE = [gateway(f"ingest-{n}") for n in range(3)]
GONE = gateway("ingest-1", GatewayContact.UNREACHABLE)


def test_pulls_spread_and_stay() -> None:
    chosen = {f"s{n}": puller_of(f"s{n}", None, THREE) for n in range(300)}
    assert min(Counter(chosen.values()).values()) > 60
    assert all(puller_of(name, "ingest-2", THREE) == "ingest-2" for name in chosen)


def test_only_pulls_of_an_unreachable_gateway_move() -> None:
    for name in (f"s{n}" for n in range(50)):
        before = puller_of(name, None, THREE)
        after = puller_of(name, before, [THREE[0], GONE, THREE[2]])
        assert after == before if before != "ingest-1" else after in ("ingest-0", "ingest-2")


def test_a_gateway_that_is_awaited_keeps_its_pulls_and_gets_no_other() -> None:
    awaited = gateway("ingest-0", GatewayContact.AWAITED)
    assert puller_of("s", "ingest-0", [awaited, THREE[1]]) == "ingest-0"
    assert puller_of("s", None, [awaited, THREE[1]]) == "ingest-1"
    assert puller_of("s", None, [awaited]) is None


def test_pulls_spread_over_regions() -> None:
    far = [gateway(f"far-{n}", region="us-east-1") for n in range(3)]
    chosen = Counter(puller_of(f"s{n}", None, THREE + far) for n in range(600))
    assert min(chosen[each.name] for each in THREE + far) > 60


def test_what_is_on_air_is_pulled_in_its_encoders_region_if_that_has_a_gateway() -> None:
    far = gateway("far-0", region="us-east-1")
    for name in (f"s{n}" for n in range(20)):
        assert puller_of(name, None, [*THREE, far], {"us-east-1"}) == "far-0"
        assert puller_of(name, None, [*THREE, far], {"eu-central-1"}) != "far-0"
        assert puller_of(name, None, THREE, {"us-east-1"}) is not None
    assert puller_of("s", "ingest-2", [*THREE, far], {"us-east-1"}) == "ingest-2", "a pull that runs stays"


def test_a_pull_stays_with_its_gateway_where_none_can_be_reached() -> None:
    """It may well go on there; who gave it up would have it cut once the gateway is heard again."""
    assert puller_of("s", "ingest-1", [GONE]) == "ingest-1"
    assert puller_of("s", "ingest-1", [GONE, gateway("ingest-2", GatewayContact.AWAITED)]) == "ingest-1"
    assert puller_of("s", "ingest-9", [GONE]) is None, "one that is not there any more"
    assert puller_of("s", None, [GONE]) is None
