"""What network policies let encoders reach: the internet but for what is inside, and what they need of it."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from pathlib import Path

import httpx
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.support.control_plane import ControlPlane
from tests.support.helm import NAMESPACE, ROOT, SHOWS, kubectl, named, render, to_stable_text

from onair_crds.contract.inside_addresses import Address, InsideRules
from onair_crds.contract.inside_ranges import NAT64
from onair_crds.shapes import Document


def policies(*options: str) -> dict[str, Document]:
    """Of the show namespace, by name."""
    found = [each for each in render(*options) if each["kind"] == "NetworkPolicy"]
    return {p["metadata"]["name"]: p["spec"] for p in found if p["metadata"]["namespace"] == SHOWS}


def reaches(spec: Document, address: Address) -> bool:
    """Whether an address is reached at any port."""
    blocks = [
        to["ipBlock"]
        for rule in spec["egress"]
        if "ports" not in rule
        for to in rule["to"]
        if "ipBlock" in to
    ]
    return any(
        address in ip_network(block["cidr"])
        and not any(address in ip_network(each) for each in block.get("except", []))
        for block in blocks
    )


def test_all_else_of_the_show_namespace_is_denied_both_ways() -> None:
    assert policies()["onair-shows"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert policies()["onair-encoder"]["policyTypes"] == ["Ingress"]
    assert not policies("--set", "networkPolicy.enabled=false")


@given(st.ip_addresses())
def test_addresses_are_judged_as_urls_of_tenants_are(address: Address) -> None:
    stands_for_another = address.version == 6 and (address.ipv4_mapped or address.sixtofour or address.teredo)
    if not stands_for_another:
        assert reaches(policies()["onair-encoder-egress"], address) == InsideRules().allows(address)


def test_ranges_are_those_of_the_values() -> None:
    allowed, refused = '["10.20.0.0/16", "fd00:1::/64"]', '["9.9.9.0/24", "2606:4700::/32"]'
    values = f'{{"allowedRanges": {allowed}, "refusedRanges": {refused}}}'
    spec = policies("--set-json", f"inside={values}")["onair-encoder-egress"]
    for address, expected in {
        "8.8.8.8": True,
        "9.9.9.9": False,
        "2606:4700::1111": False,
        "2a00::1": True,
        "10.20.3.4": True,
        "10.21.3.4": False,
        "fd00:1::9": True,
        "fd00:2::9": False,
        str(NAT64.network_address + 0x08080808): True,
        str(NAT64.network_address + 0x0A000001): False,
        str(NAT64.network_address + 0x09090901): False,
        str(NAT64.network_address + 0x09090A01): True,
    }.items():
        assert reaches(spec, ip_address(address)) is expected, address
    everywhere = policies("--set", "inside.refused=false")["onair-encoder-egress"]
    assert reaches(everywhere, ip_address("10.0.0.1"))


def test_ranges_that_are_allowed_are_in_a_rule_without_exceptions() -> None:
    """Of all ranges of a rule kube-router makes one set, where an exception within an allowed range wins."""
    values = 'inside={"allowedRanges": ["10.0.0.0/8", "172.0.0.0/8"], "refusedRanges": ["10.5.0.0/16"]}'
    rules = policies("--set-json", values)["onair-encoder-egress"]["egress"]
    blocks = [[to["ipBlock"] for to in rule.get("to", []) if "ipBlock" in to] for rule in rules]
    assert [{"cidr": "10.0.0.0/8"}, {"cidr": "172.0.0.0/8"}] in blocks


@pytest.mark.parametrize(
    ("options", "components"),
    [
        ((), {"api": 8080, "ingest": 8448, "livekit": 7880, "demo": 8000, "mediamtx": 1935}),
        (
            ("--set", "demo.enabled=false,mediamtx.enabled=false"),
            {"api": 8080, "ingest": 8448, "livekit": 7880},
        ),
        (
            ("--set", "demo.enabled=false,mediamtx.enabled=false,rooms.media.exposure=HostNetwork"),
            {"api": 8080, "ingest": 8448},
        ),
        (
            ("--set", "ingest.enabled=false,rooms.enabled=false,demo.enabled=false,mediamtx.enabled=false"),
            {"api": 8080},
        ),
    ],
)
def test_of_our_own_pods_encoders_reach_what_they_need(
    options: tuple[str, ...], components: dict[str, int]
) -> None:
    rules = policies(*options)["onair-encoder-egress"]["egress"]
    found = {
        to["podSelector"]["matchLabels"]["app.kubernetes.io/component"]: [
            each["port"] for each in rule["ports"]
        ]
        for rule in rules
        for to in rule.get("to", [])
        if "podSelector" in to
    }
    assert found == {name: [port] for name, port in components.items()}


def test_rooms_are_reached_at_their_ports_and_rules_can_be_added() -> None:
    added = '[{"to": [{"ipBlock": {"cidr": "10.9.0.0/16"}}]}]'
    rules = policies("--set-json", f"networkPolicy.encoderEgress={added}")["onair-encoder-egress"]["egress"]
    assert {"ports": [{"port": 30882, "protocol": "UDP"}, {"port": 30881, "protocol": "TCP"}]} in rules
    assert rules[-1] == {"to": [{"ipBlock": {"cidr": "10.9.0.0/16"}}]}
    without = policies("--set", "rooms.enabled=false")["onair-encoder-egress"]["egress"]
    assert "30882" not in str(without)


def test_the_documented_exception_is_one_for_destinations_pages_and_policies(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/destinations.md").read_text()
    (example,) = re.findall(r"```yaml\n(inside:.*?)```", page, re.DOTALL)
    values = tmp_path / "values.yaml"
    values.write_text(example)
    objects = render("-f", str(values))
    (egress,) = [o for o in objects if o["metadata"]["name"] == "onair-encoder-egress"]
    assert egress["spec"]["egress"][-1] == yaml.safe_load(example)["networkPolicy"]["encoderEgress"][0]
    operator = yaml.safe_load(named(objects, "ConfigMap", "onair-operator")["data"]["config.yaml"])
    rules = InsideRules.model_validate(operator["inside"])
    assert rules.refusal("rtmp://rtmp.media.svc/live/a") is None
    (host,) = yaml.safe_load(example)["inside"]["allowedHosts"]
    assert not host.startswith("*"), "pages reach nothing by a suffix"


def test_the_api_server_takes_ranges_as_they_are_taken_of_values(
    own_plane: ControlPlane, plane_client: httpx.Client
) -> None:
    plane_client.post("/api/v1/namespaces", json={"metadata": {"name": SHOWS}}).raise_for_status()
    plane_client.post("/api/v1/namespaces", json={"metadata": {"name": NAMESPACE}}).raise_for_status()
    allowed = '["10.20.1.5/16", "FD00:1::9/64"]'
    refused = '["9.9.9.9/24", "2606:4700::1/32", "0.0.0.0/0", "1::/0"]'
    turn = (
        f'"turn": {{"enabled": true, "domain": "a.example", "tlsSecret": "a", "internalRanges": {refused}}}'
    )
    objects = render(
        *("--set-json", f'inside={{"allowedRanges": {allowed}, "refusedRanges": {refused}}}'),
        *("--set-json", f'rooms={{"media": {{"exposure": "NodePort"}}, {turn}}}'),
    )
    rendered = [each for each in objects if each["kind"] == "NetworkPolicy"]
    assert {each["metadata"]["name"] for each in rendered} >= {"onair-encoder-egress", "onair-livekit"}
    kubectl(own_plane, "create", "-f", "-", stdin=to_stable_text(rendered))
    for each in rendered:
        namespace, name = each["metadata"]["namespace"], each["metadata"]["name"]
        path = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/{name}"
        assert plane_client.get(path).status_code == 200, name


def test_all_addresses_can_be_refused_but_for_ranges() -> None:
    values = 'inside={"allowedRanges": ["9.0.0.0/8"], "refusedRanges": ["0.0.0.0/0", "::/0"]}'
    spec = policies("--set-json", values)["onair-encoder-egress"]
    reached = {each: reaches(spec, ip_address(each)) for each in ("9.9.9.9", "8.8.8.8", "2a00::1")}
    assert reached == {"9.9.9.9": True, "8.8.8.8": False, "2a00::1": False}
    blocks = [
        to["ipBlock"]
        for rule in spec["egress"]
        for to in rule.get("to", [])
        if "except" in to.get("ipBlock", {})
    ]
    assert len(blocks) == 3
    for block in blocks:
        assert all(ip_network(each) != ip_network(block["cidr"]) for each in block["except"])
