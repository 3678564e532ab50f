"""The rules that NetworkPolicies become on a node."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.network_policies import Pod, State, script, selects

from onair_crds.shapes import Document

HERE = Pod("shows", "one", "10.244.1.2", {"app": "encoder"})
OTHER = Pod("system", "two", "10.244.2.3", {"app": "api"})
NAMESPACES = {"shows": {"name": "shows"}, "system": {"name": "system"}}


def policy(selector: dict[str, str] | None = None, **spec: Any) -> Document:
    types = [name for name in ("Ingress", "Egress") if name.lower() in spec] or ["Ingress", "Egress"]
    selected = {"matchLabels": selector} if selector else {}
    return {
        "metadata": {"namespace": "shows"},
        "spec": {"podSelector": selected, "policyTypes": types, **spec},
    }


def rules(*policies: Document, node: str = "one") -> list[str]:
    """What is matched for the one pod, but for what all have."""
    lines = script(State([HERE, OTHER], NAMESPACES, list(policies)), node).splitlines()
    return [each for each in lines if each.endswith("return") or "jump" in each or "drop" in each]


def test_a_pod_that_no_policy_selects_has_no_rules() -> None:
    assert rules() == rules(policy({"app": "else"})) == rules(policy(), node="two") == []


def test_a_pod_that_is_selected_has_what_is_allowed_and_no_more() -> None:
    to_api = {
        "to": [{"namespaceSelector": {"matchLabels": {"name": "system"}}, "podSelector": {}}],
        "ports": [{"port": 8080}],
    }
    assert rules(policy(egress=[to_api])) == [
        "ip daddr { 10.244.2.3 } tcp dport 8080 return",
        "counter drop",
        "ip saddr 10.244.1.2 jump pod0_egress",
        "ip saddr 10.244.1.2 jump pod0_egress",
    ]


def test_ranges_ports_and_all_peers() -> None:
    block = {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8", "127.0.0.0/8"]}
    ipv6 = {"ipBlock": {"cidr": "::/0"}}
    allowed = [
        {"from": [{"ipBlock": block}, ipv6]},
        {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 9000, "endPort": 9009}]},
    ]
    assert rules(policy(ingress=allowed))[:3] == [
        "ip saddr 0.0.0.0/0 ip saddr != { 10.0.0.0/8, 127.0.0.0/8 } meta l4proto {tcp, udp, sctp} return",
        "udp dport 53 return",
        "tcp dport 9000-9009 return",
    ]


def test_peers_without_a_namespace_are_of_the_policys_own() -> None:
    by_pod = {"from": [{"podSelector": {}}]}
    assert (
        rules(policy(ingress=[by_pod]))[0] == "ip saddr { 10.244.1.2 } meta l4proto {tcp, udp, sctp} return"
    )


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ({"key": "a", "operator": "In", "values": ["1", "2"]}, True),
        ({"key": "a", "operator": "NotIn", "values": ["1"]}, False),
        ({"key": "b", "operator": "NotIn", "values": ["1"]}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "operator": "DoesNotExist"}, False),
    ],
)
def test_labels_are_selected(expression: Document, matches: bool) -> None:
    assert selects({"matchExpressions": [expression]}, {"a": "1"}) is matches
