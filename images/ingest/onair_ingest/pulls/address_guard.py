"""Which addresses a pull may connect to: nothing inside, whatever name leads there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAT64 = ip_network("64:ff9b::/96")
SITE_LOCAL = ip_network("fec0::/10")
"""Replaced by fc00::/7, and routed inside all the same where it remains; `is_global` does not know it."""


class PullRefused(Exception):
    """A pull's address cannot be used; the text holds neither url nor key."""


@dataclass(frozen=True)
class AddressGuard:
    allowed: Sequence[Network] = ()
    """Inside, and allowed all the same."""
    refused: Sequence[Network] = ()
    """Refused beside all that is not of the public internet, such as a cluster's own public ranges."""

    def allows(self, address: Address) -> bool:
        """Whether a pull may connect to an address."""
        address = _embedded(address)
        if _within(address, self.allowed):
            return True
        public = address.is_global and not address.is_multicast and not address.is_reserved
        return public and not _within(address, (SITE_LOCAL, *self.refused))

    async def resolve(self, host: str, port: int) -> list[str]:
        """Addresses of a host, all of them allowed. Connect to one of these: the name may change.

        Raises:
            PullRefused: there is none, or one of them is inside.
        """
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # a part of it is empty, or too long
            raise PullRefused("the name of its server cannot be resolved") from error
        addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
        if not addresses:
            raise PullRefused("the name of its server has no address")
        if not all(self.allows(ip_address(each)) for each in addresses):
            raise PullRefused("its server is at an address inside this installation, which is not allowed")
        return addresses


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if any."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == each.version and address in each for each in networks)
