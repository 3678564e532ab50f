"""Ranges of addresses that are not of the public internet.

Uses only the standard library: a pod starts with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

Network = IPv4Network | IPv6Network

NAT64 = IPv6Network("64:ff9b::/96")
"""Each address stands for the IPv4 address that it ends with."""
INSIDE_IPV4 = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        # Metadata services of clouds are here
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        # One of Azure's metadata services has a public address
        "168.63.129.16/32",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
INSIDE_IPV6 = tuple(
    IPv6Network(each)
    for each in (
        # All but 2000::/3, so fc00::/7, fe80::/10, the older fec0::/10 and multicast are among them
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
"""Addresses that stand for IPv4 ones are within: NAT64, mapped ones, 6to4 and Teredo."""


def network_of(text: str) -> Network:
    """The network that a range is of, which may be written by any of its addresses; an address is one, too.

    Raises:
        ValueError: it is neither.
    """
    return ip_network(text, strict=False)


def nat64(networks: Iterable[Network]) -> list[IPv6Network]:
    """What IPv4 ranges are where IPv6 is translated to them."""
    start = int(NAT64.network_address)
    return list(
        collapse_addresses(
            IPv6Network((start + int(each.network_address), NAT64.prefixlen + each.prefixlen))
            for each in networks
            if isinstance(each, IPv4Network)
        )
    )
