"""The rules of nftables for what the browser's user may reach. Pure.

They apply only to that user, and come before any translation of addresses within the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses

from onair_crds.contract.inside_ranges import INSIDE_IPV4, INSIDE_IPV6, NAT64, Network, nat64
from onair_crds.contract.pod import BROWSER_UID, CONTROL_PORT, ENGINE_PORT, METRICS_PORT, SOURCES_PORT

Address = IPv4Address | IPv6Address
DNS_PORT = 53


@dataclass(frozen=True)
class AllowedHost:
    """An address that a name of the allow-list had, at one port or, without, at all."""

    address: Address
    port: int | None = None


@dataclass(frozen=True)
class PageRules:
    """What the browser's user may reach."""

    refused: bool = True
    """False: only the pod itself refuses what is inside."""
    hosts: tuple[AllowedHost, ...] = ()
    allowed_ranges: tuple[Network, ...] = ()
    refused_ranges: tuple[Network, ...] = ()
    """Refused in addition to all that is not of the public internet, as the pod's own node."""
    name_servers: tuple[Network, ...] = ()
    room_udp_port: int = 0
    room_tcp_port: int = 0


def ruleset(rules: PageRules) -> str:
    """The text that `nft -f` loads in one step, in the place of an earlier one."""
    inside = (*INSIDE_IPV4, *INSIDE_IPV6, *rules.refused_ranges) if rules.refused else ()
    standing_for_ipv4 = nat64(inside) if rules.refused else []
    chain = [
        # The page's own ports, and no other of the pod, by whichever of its addresses
        f'oifname "lo" ip daddr 127.0.0.1 tcp dport {{ {SOURCES_PORT}, {ENGINE_PORT} }} accept',
        f'oifname "lo" tcp dport {{ {CONTROL_PORT}, {METRICS_PORT} }} goto refused',
        *(
            f"{_to([each])} meta l4proto {{ tcp, udp }} th dport {DNS_PORT} accept"
            for each in rules.name_servers
        ),
        *(_host(each) for each in rules.hosts),
        'oifname "lo" goto refused',
        *(f"{_to([each])} accept" for each in rules.allowed_ranges),
        *([f"udp dport {rules.room_udp_port} accept"] if rules.room_udp_port else []),
        *([f"tcp dport {rules.room_tcp_port} accept"] if rules.room_tcp_port else []),
        *_refusals(inside, standing_for_ipv4),
    ]
    return "\n".join(
        (
            # There may be one of an earlier start; deleting none would be an error
            "add table inet onair",
            "delete table inet onair",
            "table inet onair {",
            "  chain refused {",
            "    meta l4proto tcp reject with tcp reset",
            "    reject with icmpx type admin-prohibited",
            "  }",
            "  chain page {",
            *(f"    {line}" for line in chain),
            "  }",
            "  chain output {",
            "    type filter hook output priority mangle; policy accept;",
            f"    meta skuid {BROWSER_UID} goto page",
            "  }",
            "}",
            "",
        )
    )


def _to(networks: Sequence[Network]) -> str:
    """A match of addresses of one family."""
    protocol = "ip" if networks[0].version == 4 else "ip6"
    return f"{protocol} daddr {{ {', '.join(map(str, networks))} }}"


def _host(host: AllowedHost) -> str:
    protocol = "ip" if host.address.version == 4 else "ip6"
    port = f" meta l4proto {{ tcp, udp }} th dport {host.port}" if host.port else ""
    return f"{protocol} daddr {host.address}{port} accept"


def _refusals(inside: Iterable[Network], standing_for_ipv4: Sequence[Network]) -> Iterator[str]:
    for networks in _by_family(inside):
        if networks and networks[0].version == 6 and standing_for_ipv4:
            yield f"{_to(standing_for_ipv4)} goto refused"
            yield f"{_to([NAT64])} accept"
        if networks:
            yield f"{_to(networks)} goto refused"


def _by_family(networks: Iterable[Network]) -> tuple[Sequence[Network], Sequence[Network]]:
    """Those of IPv4 and of IPv6, without what is within another: a set takes no address twice."""
    given = list(networks)
    return (
        list(collapse_addresses(each for each in given if isinstance(each, IPv4Network))),
        list(collapse_addresses(each for each in given if isinstance(each, IPv6Network))),
    )
