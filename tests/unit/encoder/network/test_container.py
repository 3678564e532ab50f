"""What the init container reads: name servers, names of the allow-list, and what it says of bad settings."""

from __future__ import annotations

import json
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from onair_crds.contract.page_network import VARIABLE, PageNetwork
from onair_crds.contract.pod import HOST_ADDRESSES_VARIABLE
from onair_encoder.network import container
from onair_encoder.network.container import name_servers, resolved, run
from onair_encoder.network.ruleset import AllowedHost


def test_name_servers_are_those_of_the_resolver() -> None:
    text = "search a.svc\nnameserver 10.96.0.10\n# nameserver 1.1.1.1\nnameserver fe80::1%eth0\nnameserver\n"
    assert name_servers(text) == [ip_network("10.96.0.10"), ip_network("fe80::1")]


async def test_hosts_are_allowed_by_their_addresses_and_one_that_leads_nowhere_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = await resolved(("192.0.2.7:80", "192.0.2.8", "*.media.example", "no-such-host.invalid:80"))
    assert found == [AllowedHost(ip_address("192.0.2.7"), 80), AllowedHost(ip_address("192.0.2.8"))]
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {(each["event"], each["host"]) for each in logged} == {
        ("network.host-not-allowed", "*.media.example"),
        ("network.host-not-allowed", "no-such-host.invalid:80"),
    }


def stand_in(folder: Path, script: str) -> str:
    """A program in the place of nft, which a unit test has no right to use."""
    program = folder / "nft"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


async def test_all_settings_end_in_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "NFT", stand_in(tmp_path, f"cat > {tmp_path}/loaded"))
    settings = PageNetwork(
        allowed_hosts=("192.0.2.7:81",),
        allowed_ranges=("10.20.1.5/16",),
        refused_ranges=("9.9.9.0/24",),
        name_servers=("10.244.0.0/16",),
        room_udp_port=30882,
        room_tcp_port=30881,
    )
    monkeypatch.setenv(VARIABLE, settings.text())
    monkeypatch.setenv(HOST_ADDRESSES_VARIABLE, "8.8.4.4,2a00::1")
    await run()
    loaded = (tmp_path / "loaded").read_text()
    for each in (
        "ip daddr 192.0.2.7 meta l4proto { tcp, udp } th dport 81 accept",
        "ip daddr { 10.20.0.0/16 } accept",
        "ip daddr { 10.244.0.0/16 } meta l4proto { tcp, udp } th dport 53 accept",
        "udp dport 30882 accept",
        "tcp dport 30881 accept",
    ):
        assert each in loaded
    refusals = [line for line in loaded.splitlines() if line.endswith("goto refused")]
    for each in ("9.9.9.0/24", "8.8.4.4/32", "2a00::1/128"):
        assert any(each in line for line in refusals)


@pytest.mark.parametrize(
    ("text", "script", "said"),
    [
        ("[]", "cat", "ONAIR_PAGE_NETWORK: must be an object"),
        ('{"unknown": 1}', "cat", "ONAIR_PAGE_NETWORK: must be an object"),
        ('{"allowed_ranges": ["10.0.0.0/64"]}', "cat", "allowed_ranges: '10.0.0.0/64' does not"),
        (
            "{}",
            "cat > /dev/null; echo 'Error: Operation not supported' >&2; exit 1",
            "Operation not supported",
        ),
        ("{}", "cat > /dev/null; exit 3", "nft ended with 3"),
    ],
)
async def test_rules_that_cannot_be_loaded_end_the_pods_start_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, script: str, said: str
) -> None:
    monkeypatch.setattr(container, "NFT", stand_in(tmp_path, script))
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(SystemExit) as ended:
        await run()
    assert said in str(ended.value)
