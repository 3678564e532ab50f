"""Loads the rules of what a page may reach into the pod's network, and ends: the init container `network`.

It runs before anybody else does, as root with the one capability that this takes.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from pathlib import Path

from onair_crds.contract.inside_ranges import Network, network_of
from onair_crds.contract.page_network import VARIABLE, PageNetwork
from onair_crds.contract.pod import HOST_ADDRESSES_VARIABLE
from onair_crds.runtime.stderr_log import log
from onair_encoder.network.ruleset import AllowedHost, PageRules, ruleset

NFT = "/usr/sbin/nft"
RESOLVER = Path("/etc/resolv.conf")
RESOLVE_TIMEOUT_S = 10.0
"""For all names together. A pod whose name servers are unavailable starts nevertheless."""
RETRY_S = 0.5


async def run() -> None:
    """Loads the rules of the pod's network, or ends with an error that says what is wrong."""
    resolver = RESOLVER.read_text()  # noqa: ASYNC240 - nothing else runs yet
    try:
        wanted = PageNetwork.of_text(os.environ.get(VARIABLE, "{}"))
        rules = PageRules(
            refused=wanted.refused,
            hosts=tuple(await resolved(wanted.allowed_hosts)),
            allowed_ranges=_networks("allowed_ranges", wanted.allowed_ranges),
            refused_ranges=(
                *_networks("refused_ranges", wanted.refused_ranges),
                *_networks(
                    HOST_ADDRESSES_VARIABLE,
                    filter(None, os.environ.get(HOST_ADDRESSES_VARIABLE, "").split(",")),
                ),
            ),
            name_servers=(
                *name_servers(resolver),
                *_networks("name_servers", wanted.name_servers),
            ),
            room_udp_port=wanted.room_udp_port,
            room_tcp_port=wanted.room_tcp_port,
        )
        await _load(ruleset(rules))
    except (ValueError, OSError) as error:
        sys.exit(f"the rules of the pod's network cannot be loaded, so nothing is started: {error}")
    log("network.rules-loaded", hosts=len(rules.hosts))


def name_servers(text: str) -> list[Network]:
    """Addresses of the name servers of a resolv.conf."""
    lines = [line.split() for line in text.splitlines()]
    return [
        ip_network(line[1].partition("%")[0]) for line in lines if line[:1] == ["nameserver"] and line[1:]
    ]


async def resolved(names: tuple[str, ...]) -> list[AllowedHost]:
    """What names of the allow-list lead to now; one that leads nowhere is not allowed, and logged."""
    found = await asyncio.gather(*(_resolved(each) for each in names))
    return [host for hosts in found for host in hosts]


async def _resolved(name: str) -> list[AllowedHost]:
    host, _, port = name.partition(":")
    if host.startswith("*."):
        log("network.host-not-allowed", host=name, error="names below a suffix cannot be known beforehand")
        return []
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT_S):
            addresses = await _addresses(host)
    except (OSError, UnicodeError, TimeoutError) as error:
        log("network.host-not-allowed", host=name, error=str(error) or type(error).__name__)
        return []
    return [AllowedHost(ip_address(each), int(port) if port else None) for each in addresses]


async def _addresses(host: str) -> list[str]:
    loop = asyncio.get_running_loop()
    while True:
        try:
            found = await loop.getaddrinfo(host, None, proto=6)
        except socket.gaierror as error:
            if error.errno != socket.EAI_AGAIN:
                raise
            await asyncio.sleep(RETRY_S)
        else:
            return sorted({str(address[0]).partition("%")[0] for *_, address in found})


def _networks(field: str, ranges: Iterable[str]) -> tuple[Network, ...]:
    try:
        return tuple(network_of(each) for each in ranges)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from error


async def _load(text: str) -> None:
    """
    Raises:
        OSError: they were not taken, in the words of nft.
    """
    nft = await asyncio.create_subprocess_exec(
        *(NFT, "-f", "-"), stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, said = await nft.communicate(text.encode())
    if nft.returncode:
        raise OSError(
            said.decode(errors="replace").strip().partition("\n")[0] or f"nft ended with {nft.returncode}"
        )
