"""What the rules of the pod's network say of each address; in tests of pods nftables itself takes them."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.inside_ranges import NAT64
from onair_encoder.network.ruleset import AllowedHost, PageRules, ruleset

IPV4, IPV6 = "192.168.7.1", "fd00:7::1"
ALLOWED = PageRules(
    hosts=(
        AllowedHost(ip_address(IPV4), 80),
        AllowedHost(ip_address(IPV6)),
        AllowedHost(ip_address("::1"), 99),
    ),
    allowed_ranges=(ip_network("10.20.0.0/16"), ip_network("fd00:1::/64")),
    refused_ranges=(ip_network("9.9.9.0/24"), ip_network("2606:4700::/32"), ip_network("10.0.0.0/8")),
    name_servers=(ip_network("10.96.0.10"), ip_network("fd00::a")),
    room_udp_port=30882,
    room_tcp_port=30881,
)


def accepts(
    rules: PageRules, address: str, protocol: str = "tcp", port: int = 443, *, own: bool = False
) -> bool:
    """What the first rule says that fits a packet of the page's; without one it goes out.

    Args:
        own: the address is one of the pod itself, whose packets leave by `lo`.
    """
    chain = re.search(r"chain page \{\n(.*?)\n  \}", ruleset(rules), re.DOTALL)
    assert chain
    for line in chain[1].splitlines():
        *matches, verdict = re.split(
            r" (?=accept$|goto refused$)|(?<=[\w\}\"]) (?=ip6? |meta |tcp |udp |th )", line.strip()
        )
        if all(_fits(match, address, protocol, port, own=own) for match in matches):
            return verdict == "accept"
    return True


def _fits(match: str, address: str, protocol: str, port: int, *, own: bool) -> bool:
    name, _, value = match.partition(" ")
    if name == "oifname":
        return own
    wanted = value.split(" ", 1)[1].strip("{ }").split(", ")
    if name in ("ip", "ip6"):
        parsed = ip_address(address)
        networks = [ip_network(each) for each in wanted]
        return (parsed.version == 4) == (name == "ip") and any(parsed in each for each in networks)
    if name == "meta":
        return protocol in wanted
    assert name in ("tcp", "udp", "th"), match
    return name in (protocol, "th") and str(port) in wanted


@given(st.ip_addresses())
def test_what_is_refused_is_what_urls_of_tenants_must_not_lead_to(address: IPv4Address | IPv6Address) -> None:
    """But for the two that hold an IPv4 address where no prefix tells which: they are refused whole."""
    holds_one = isinstance(address, IPv6Address) and (
        address.sixtofour or address.teredo or address.ipv4_mapped
    )
    if not holds_one:
        assert accepts(PageRules(), str(address)) == InsideRules().allows(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_where_ipv6_translates_to_it(address: IPv4Address) -> None:
    translated = IPv6Address(int(NAT64.network_address) + int(address))
    assert accepts(PageRules(), str(translated)) == accepts(PageRules(), str(address))


@pytest.mark.parametrize(
    ("address", "protocol", "port", "expected"),
    [
        ("8.8.8.8", "tcp", 443, True),
        ("2a00::1", "udp", 3478, True),
        ("9.9.9.9", "tcp", 443, False),
        ("2606:4700::1111", "tcp", 443, False),
        ("::ffff:10.0.0.1", "tcp", 443, False),
        ("2002:a00:1::", "tcp", 443, False),
        (IPV4, "tcp", 80, True),
        (IPV4, "tcp", 81, False),
        (IPV6, "tcp", 81, True),
        ("10.20.3.4", "tcp", 6379, True),
        ("10.21.3.4", "tcp", 6379, False),
        ("fd00:1::5", "tcp", 443, True),
        ("10.96.0.10", "udp", 53, True),
        ("10.96.0.10", "tcp", 53, True),
        ("10.96.0.10", "tcp", 9153, False),
        ("10.96.0.11", "udp", 53, False),
        ("fd00::a", "udp", 53, True),
        ("10.244.0.9", "udp", 30882, True),
        ("10.244.0.9", "tcp", 30881, True),
        ("10.244.0.9", "tcp", 30882, False),
        ("10.244.0.9", "udp", 30881, False),
    ],
)
def test_an_allow_list_name_servers_and_rooms_are_reached_and_nothing_beside_them(
    address: str, protocol: str, port: int, *, expected: bool
) -> None:
    assert accepts(ALLOWED, address, protocol, port) is expected


@pytest.mark.parametrize("rules", [PageRules(), ALLOWED, PageRules(refused=False)])
def test_of_its_own_pod_a_page_reaches_two_ports(rules: PageRules) -> None:
    own = [
        (address, port)
        for address in ("127.0.0.1", "127.0.0.2", "10.20.0.7", "2a00::7", "::1")
        for port in (8450, 8000, 8443, 9090, 1935, 30881)
        if accepts(rules, address, "tcp", port, own=True)
    ]
    assert own == [("127.0.0.1", 8450), ("127.0.0.1", 8000)]


def test_an_allowed_host_opens_none_of_the_agents_ports() -> None:
    rules = PageRules(hosts=(AllowedHost(ip_address("127.0.0.1")),))
    assert accepts(rules, "127.0.0.1", "tcp", 5000, own=True)
    assert not accepts(rules, "127.0.0.1", "tcp", 8443, own=True)
    assert not accepts(rules, "127.0.0.1", "tcp", 9090, own=True)


def test_without_refusals_all_but_the_own_pod_is_open() -> None:
    rules = PageRules(refused=False, refused_ranges=(ip_network("9.9.9.0/24"),))
    assert accepts(rules, "10.0.0.1")
    assert accepts(rules, "9.9.9.9")
    assert accepts(rules, "64:ff9b::a00:1")


def test_the_rules_are_the_browsers_alone_and_replace_earlier_ones() -> None:
    text = ruleset(PageRules())
    assert text.startswith("add table inet onair\ndelete table inet onair\n")
    assert re.findall(r"meta skuid (\d+) goto page", text) == ["1000"]
    assert "policy accept" in text
