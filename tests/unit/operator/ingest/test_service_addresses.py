"""Addresses of Services of ingest, by their type and what the cluster gave them."""

from __future__ import annotations

from typing import Any

import pytest

from onair_crds.shapes import Document
from onair_operator.ingest.service_addresses import address_of_node, best_node, endpoints_of, missing_of

PORTS = [
    {"name": "rtmp", "port": 1935, "nodePort": 30935},
    {"name": "rtmps", "port": 1936, "nodePort": 30936},
    {"name": "srt", "port": 8890, "nodePort": 30890, "protocol": "UDP"},
]


def service(type_: str, *ingress: Document, ports: list[Document] | None = None) -> Document:
    return {
        "metadata": {"name": "onair-ingest", "namespace": "onair-system"},
        "spec": {"type": type_, "ports": PORTS if ports is None else ports},
        "status": {"loadBalancer": {"ingress": list(ingress)} if ingress else {}},
    }


def node(
    name: str, ready: str = "True", region: str = "", *, control_plane: bool = False, **addresses: str
) -> Document:
    excluded = {"node.kubernetes.io/exclude-from-external-load-balancers": ""} if control_plane else {}
    return {
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/region": region, **excluded}},
        "status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "addresses": [{"type": type_, "address": address} for type_, address in addresses.items()],
        },
    }


@pytest.mark.parametrize(
    ("given", "node_address", "urls"),
    [
        (
            service("LoadBalancer", {"ip": "192.0.2.7"}),
            None,
            ["rtmp://192.0.2.7:1935/live", "rtmps://192.0.2.7:1936/live", "srt://192.0.2.7:8890"],
        ),
        (service("LoadBalancer", {"hostname": "a.example"}, {"ip": "b"}, ports=PORTS[:1]), None, ["rtmp://a.example:1935/live"]),
        (service("LoadBalancer", {"ip": "2001:db8::1"}, ports=PORTS[2:]), None, ["srt://[2001:db8::1]:8890"]),
        (service("LoadBalancer"), "10.0.0.1", []),
        (
            service("NodePort"),
            "10.0.0.1",
            ["rtmp://10.0.0.1:30935/live", "rtmps://10.0.0.1:30936/live", "srt://10.0.0.1:30890"],
        ),
        (service("NodePort"), None, []),
        (service("ClusterIP", ports=PORTS[:1]), None, ["rtmp://onair-ingest.onair-system.svc:1935/live"]),
    ],
    ids=["balancer", "balancer's name", "IPv6", "balancer awaited", "node", "no node", "cluster"],
)  # fmt: skip
def test_addresses_of_a_service(given: Document, node_address: str | None, urls: list[str]) -> None:
    found = endpoints_of(given, "eu", node_address)
    assert [each.base_url for each in found] == urls
    assert {each.region for each in found} <= {"eu"}


def test_why_there_is_none_is_told() -> None:
    assert (
        missing_of(service("LoadBalancer"))
        == "Service onair-ingest has not been given a load balancer's address"
    )
    assert missing_of(service("NodePort")) == "no node is ready that Service onair-ingest could be reached at"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({"InternalIP": "10.0.0.1", "ExternalIP": "192.0.2.1"}, "192.0.2.1"),
        ({"Hostname": "one", "InternalIP": "10.0.0.1"}, "10.0.0.1"),
        ({"Hostname": "one"}, None),
        ({"InternalIP": "10.0.0.1", "ready": "Unknown"}, None),
    ],
)
def test_a_node_is_reached_at_its_external_address_while_it_is_ready(given: Any, address: str | None) -> None:
    assert address_of_node(node("one", **given)) == address


def test_publishers_stay_with_the_node_that_they_know_as_long_as_it_is_ready() -> None:
    one, two = node("one", InternalIP="10.0.0.1"), node("two", InternalIP="10.0.0.2")
    assert best_node([one, two], "", ()) is one
    assert best_node([one, two], "", {"10.0.0.2"}) is two
    gone = node("two", "False", InternalIP="10.0.0.2")
    assert best_node([one, gone], "", {"10.0.0.2"}) is one
    assert best_node([gone], "", ()) is None


def test_a_node_of_the_region_that_others_reach_is_preferred() -> None:
    control = node("a-control", InternalIP="10.0.0.1", control_plane=True)
    us, eu = (
        node("b-us", region="us", InternalIP="10.0.0.2"),
        node("c-eu", region="eu", InternalIP="10.0.0.3"),
    )
    assert best_node([control, us, eu], "eu", ()) is eu
    assert best_node([control, us], "eu", ()) is us
    public = node("d-eu", region="eu", InternalIP="10.0.0.4", ExternalIP="192.0.2.4")
    assert best_node([control, us, eu, public], "eu", ()) is public
    assert best_node([control], "eu", ()) is control
