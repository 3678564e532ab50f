"""Resolves the names of storages for the HTTP client, which connects to the addresses that were judged."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from aiohttp.abc import AbstractResolver, ResolveResult

from onair_crds.contract.inside_addresses import InsideAddress, InsideRules, host_of, literal_address
from onair_crds.session_error import inside_error


class OutsideResolver(AbstractResolver):
    def __init__(self, inside: InsideRules) -> None:
        self._inside = inside

    def check_literal(self, host: str) -> None:
        """Judges a host that is an address: the client resolves no such.

        Raises:
            SessionError: it is inside.
        """
        address = literal_address(host_of(host))
        if address and not self._inside.allows_host(host_of(host), None) and not self._inside.allows(address):
            raise inside_error(host)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolves a name to addresses that are not inside.

        Raises:
            SessionError: one of its addresses is inside.
            OSError: the name cannot be resolved.
        """
        try:
            found = await self._inside.addresses(host, port)
        except InsideAddress as error:
            raise inside_error(host) from error
        return [
            ResolveResult(
                hostname=host,
                host=str(ip_address(str(address[0]).partition("%")[0])),
                port=port,
                family=each,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for each, address in found
            if family in (socket.AF_UNSPEC, each)
        ]

    async def close(self) -> None:
        """Has nothing to release."""
