"""Which addresses a pull may connect to."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from onair_crds.contract.inside_addresses import InsideRules
from onair_ingest.pulls.address_guard import AddressGuard, PullRefused


def guard(*allowed: str) -> AddressGuard:
    return AddressGuard(InsideRules(allowed_ranges=tuple(ip_network(each) for each in allowed)))


async def test_addresses_are_resolved_and_refused_as_they_are() -> None:
    with pytest.raises(PullRefused, match="inside"):
        await guard().resolve("127.0.0.1", 1935)
    with pytest.raises(PullRefused, match="inside"):
        await guard("127.0.0.2/32").resolve("localhost", 1935)
    for name in ("a" * 64 + ".example", "media..example"):
        with pytest.raises(PullRefused, match="cannot be resolved"):
            await guard().resolve(name, 1935)
    assert await guard("127.0.0.0/8").resolve("127.0.0.1", 1935) == ["127.0.0.1"]
