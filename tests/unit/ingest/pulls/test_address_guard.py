"""Which addresses a pull may connect to."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from onair_ingest.pulls.address_guard import AddressGuard, PullRefused


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "fec0::1",
        "::127.0.0.1",
        "64:ff9b:1::a00:1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2001:0:a00:1:8000:63bf:f5ff:fffe",
    ],
)
def test_nothing_inside_is_allowed(address: str) -> None:
    assert not AddressGuard().allows(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_the_public_internet_is_allowed(address: str) -> None:
    assert AddressGuard().allows(ip_address(address))


def test_ranges_can_be_allowed_and_refused_and_allowed_ones_come_first() -> None:
    guard = AddressGuard(
        allowed=[ip_network("10.1.0.0/16"), ip_network("9.9.9.9/32")],
        refused=[ip_network("9.0.0.0/8"), ip_network("2606:4700::/32")],
    )
    allowed = {
        each: guard.allows(ip_address(each)) for each in ("10.1.2.3", "10.2.0.1", "9.9.9.9", "9.9.9.8")
    }
    assert allowed == {"10.1.2.3": True, "10.2.0.1": False, "9.9.9.9": True, "9.9.9.8": False}
    assert not guard.allows(ip_address("2606:4700::1111"))


async def test_addresses_are_resolved_and_refused_as_they_are() -> None:
    with pytest.raises(PullRefused, match="inside"):
        await AddressGuard().resolve("127.0.0.1", 1935)
    with pytest.raises(PullRefused, match="inside"):
        await AddressGuard(allowed=[ip_network("127.0.0.2/32")]).resolve("localhost", 1935)
    for name in ("a" * 64 + ".example", "media..example"):
        with pytest.raises(PullRefused, match="cannot be resolved"):
            await AddressGuard().resolve(name, 1935)
    loopback = AddressGuard(allowed=[ip_network("127.0.0.0/8")])
    assert await loopback.resolve("127.0.0.1", 1935) == ["127.0.0.1"]
