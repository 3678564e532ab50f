"""Which urls and addresses lead inside, however they are spelled."""

from __future__ import annotations

import asyncio
import socket
import threading
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from onair_crds.contract.inside_addresses import EVERYWHERE, InsideAddress, InsideRules, literal_address
from onair_crds.contract.inside_ranges import NAT64


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "168.63.129.16",
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
    assert not InsideRules().allows(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_the_public_internet_is_allowed(address: str) -> None:
    assert InsideRules().allows(ip_address(address))


@given(st.ip_addresses())
def test_nothing_is_allowed_that_is_registered_as_not_global(address: IPv4Address | IPv6Address) -> None:
    stands_for_another = address in NAT64 or (
        address.version == 6 and (address.ipv4_mapped or address.sixtofour or address.teredo)
    )
    if InsideRules().allows(address) and not stands_for_another:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


def test_ranges_can_be_allowed_and_refused_and_allowed_ones_come_first() -> None:
    rules = InsideRules(
        allowed_ranges=(ip_network("10.1.0.0/16"), ip_network("9.9.9.9/32")),
        refused_ranges=(ip_network("9.0.0.0/8"), ip_network("2606:4700::/32")),
    )
    allowed = {
        each: rules.allows(ip_address(each)) for each in ("10.1.2.3", "10.2.0.1", "9.9.9.9", "9.9.9.8")
    }
    assert allowed == {"10.1.2.3": True, "10.2.0.1": False, "9.9.9.9": True, "9.9.9.8": False}
    assert not rules.allows(ip_address("2606:4700::1111"))


def test_a_range_may_be_written_by_any_of_its_addresses() -> None:
    rules = InsideRules.model_validate_json(
        '{"allowedRanges": ["10.20.1.5/16", "fd00:1::9/64"], "refusedRanges": ["9.9.9.9/8"]}'
    )
    assert rules.allowed_ranges == (ip_network("10.20.0.0/16"), ip_network("fd00:1::/64"))
    assert rules.refused_ranges == (ip_network("9.0.0.0/8"),)
    with pytest.raises(ValidationError, match="allowedRanges"):
        InsideRules.model_validate_json('{"allowedRanges": ["10.20.1.5/64"]}')


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "0177.0.0.01",
        "127.1",
        "10.65535",
        "169.254.169.254",
        "0xa9fea9fe",
        "%31%32%37.0.0.1",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "[::1]",
        "[::ffff:169.254.169.254]",
        "[fe80::1%25eth0]",
        "[64:ff9b::a00:1]",
        "localhost",
        "LOCALHOST.",
        "api.localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "redis.onair-system",
        "metadata.google.internal",
        "printer.local",
        "user@10.0.0.1",
        "public.example@10.0.0.1",
        "10.0.0.1\\@public.example",
        "public.example\\.svc",
        "a..b",
        "1.2.3.4.5",
        "public.example:99999",
        "",
    ],
)
def test_urls_that_lead_inside_are_refused(host: str) -> None:
    for scheme, path in (("http", "/x"), ("rtmp", "/live"), ("srt", "?streamid=s")):
        assert InsideRules().refusal(f"{scheme}://{host}{path}")
    assert EVERYWHERE.refusal(f"http://{host}/") is None


@pytest.mark.parametrize(
    "host",
    [
        "a.example",
        "live.twitch.tv:1935",
        "8.8.8.8",
        "[2606:4700::1111]",
        "b\u00fccher.example",
        "xn--bcher-kva.example",
    ],
)
def test_public_urls_are_taken(host: str) -> None:
    assert InsideRules().refusal(f"rtmps://{host}/app") is None


def test_hosts_can_be_allowed_by_name_port_and_suffix() -> None:
    rules = InsideRules(allowed_hosts=("pages.system.svc:80", "*.shows.svc", "Camera"))
    allowed = [
        url
        for url in (
            "http://pages.system.svc/",
            "http://PAGES.system.svc:80/",
            "http://pages.system.svc:9997/",
            "https://pages.system.svc/",
            "rtmp://a.shows.svc/live",
            "rtmp://shows.svc/live",
            "rtmp://ashows.svc/live",
            "srt://camera:9000",
        )
        if rules.refusal(url) is None
    ]
    assert allowed == [
        "http://pages.system.svc/",
        "http://PAGES.system.svc:80/",
        "rtmp://a.shows.svc/live",
        "srt://camera:9000",
    ]


@given(st.integers(0, 2**32 - 1), st.data())
def test_every_spelling_of_an_address_is_known(number: int, data: st.DataObject) -> None:
    """Those of inet_aton, which C libraries and browsers share."""
    count = data.draw(st.integers(1, 4))
    rest, parts = number, []
    for place in range(count - 1):
        size = 256 ** (3 - place)
        parts.append(rest // size)
        rest %= size
    spell = [st.sampled_from([str(each), hex(each), f"0{each:o}"]) for each in (*parts, rest)]
    text = ".".join(data.draw(each) for each in spell)
    address = literal_address(text)
    assert address is not None
    assert address.packed == socket.inet_aton(text) == number.to_bytes(4, "big")


async def test_a_name_is_judged_by_what_it_leads_to() -> None:
    with pytest.raises(InsideAddress):
        await InsideRules().addresses("localhost", 80)
    for rules in (EVERYWHERE, InsideRules(allowed_hosts=("localhost:80",))):
        assert {str(address[0]) for _, address in await rules.addresses("localhost", 80)} <= {
            "127.0.0.1",
            "::1",
        }


async def test_names_that_are_not_resolved_keep_nobody_else_from_resolving(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    responds, getaddrinfo = threading.Event(), socket.getaddrinfo

    def silent(host: str, *arguments: Any, **options: Any) -> Any:
        if host.endswith(".example") and not options.get("flags"):
            assert responds.wait(20)
            raise socket.gaierror(socket.EAI_AGAIN, "no response")
        return getaddrinfo(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    waiting = [asyncio.create_task(InsideRules().addresses(f"media{n}.example", 1935)) for n in range(30)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await asyncio.get_running_loop().getaddrinfo("localhost", 443)
    for each in waiting:
        each.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    responds.set()
