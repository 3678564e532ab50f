"""Where publishers reach ingest, found of a Service of a real API server and told by sources and facades."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.gateway_server import GatewayServer
from tests.support.ingest_operator import camera, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, FoundAddresses, addresses_in
from onair_crds.kube.apis import CONFIG_MAPS, NODES, SERVICES
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.cluster import ingest_addresses
from onair_operator.settings import IngestServiceSettings, IngestSettings

PORTS: list[Document] = [
    {"name": "rtmp", "port": 1935},
    {"name": "rtmps", "port": 1936},
    {"name": "srt", "port": 8890, "protocol": "UDP"},
]


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_addresses, "INTERVAL_S", 0.1)


async def make_service(
    operated_namespace: OperatedNamespace,
    type_: str,
    name: str = "onair-ingest",
    ports: list[Document] = PORTS,
) -> Document:
    return await operated_namespace.client.create(
        SERVICES,
        operated_namespace.namespace,
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"type": type_, "ports": ports, "selector": {"app": "ingest"}},
        },
    )


async def balance(
    operated_namespace: OperatedNamespace, service: str = "onair-ingest", **ingress: str
) -> None:
    """Gives the Service an address, as a cloud does."""
    status = {"status": {"loadBalancer": {"ingress": [ingress]}}}
    await operated_namespace.client.merge_patch(
        SERVICES, operated_namespace.namespace, service, status, "status"
    )


def settings(server: GatewayServer, **values: str) -> IngestSettings:
    services = [IngestServiceSettings(name="onair-ingest")]
    return IngestSettings(gateways=[server.settings], services=services, **values)


async def kept(operated_namespace: OperatedNamespace, rtmp: str) -> FoundAddresses:
    async def check() -> FoundAddresses | None:
        try:
            config = await operated_namespace.client.get(
                CONFIG_MAPS, operated_namespace.namespace, ADDRESSES_CONFIG_MAP
            )
        except ApiError:
            return None
        found = addresses_in(config)
        return found if found and rtmp in [each.base_url for each in found.endpoints] else None

    return await until(check, f"{rtmp} is kept")


async def test_addresses_of_services_of_one_protocol_each_are_put_together(
    operated_namespace: OperatedNamespace,
) -> None:
    names = {"onair-ingest": PORTS[:2], "onair-ingest-srt": PORTS[2:]}
    for number, (name, ports) in enumerate(names.items(), 7):
        await make_service(operated_namespace, "LoadBalancer", name, ports)
        await balance(operated_namespace, name, ip=f"192.0.2.{number}")
    async with GatewayServer().running() as server:
        services = [IngestServiceSettings(name=name) for name in names]
        split = IngestSettings(gateways=[server.settings], services=services)
        async with operated_namespace.operator(ingest=split):
            found = await kept(operated_namespace, "rtmp://192.0.2.7:1935/live")
    assert found.missing == ""
    assert [each.base_url for each in found.endpoints] == [
        "rtmp://192.0.2.7:1935/live",
        "rtmps://192.0.2.7:1936/live",
        "srt://192.0.2.8:8890",
    ]


async def test_the_address_of_a_load_balancer_reaches_sources_whenever_it_changes(
    operated_namespace: OperatedNamespace,
) -> None:
    await make_service(operated_namespace, "LoadBalancer")
    async with GatewayServer().running() as server, operated_namespace.operator(ingest=settings(server)):
        await operated_namespace.collection()
        await camera(operated_namespace)
        missing = "Service onair-ingest has not been given a load balancer's address"
        waiting = await status_with(
            operated_namespace, lastError=f"no address to push to is known: {missing}"
        )
        assert waiting["address"] == {"secretName": "source-camera"}
        for host in ("192.0.2.7", "ingest.example"):
            await balance(operated_namespace, **{"ip" if host[0] == "1" else "hostname": host})
            found = await kept(operated_namespace, f"rtmp://{host}:1935/live")
            assert [each.protocol for each in found.endpoints] == ["rtmp", "rtmps", "srt"]

            async def told(host: str = host) -> Document | None:
                status = ((await operated_namespace.get("Source", "camera")) or {})["status"]
                return status if host in str(status["address"]) else None

            status = await until(told, "the source has it")
            assert status["address"]["baseUrl"] == f"rtmp://{host}:1935/live"
            assert [each["protocol"] for each in status["address"]["endpoints"]] == ["rtmp", "rtmps"]
            assert status["lastError"] == "never connected"


async def test_publishers_by_node_port_are_sent_to_a_node_that_is_ready(
    operated_namespace: OperatedNamespace,
) -> None:
    ports = {
        p["name"]: p["nodePort"]
        for p in (await make_service(operated_namespace, "NodePort"))["spec"]["ports"]
    }
    # Nodes are of no namespace: those of this test have addresses of their own.
    nodes = [
        await make_node(operated_namespace, f"{operated_namespace.namespace}-{n}", f"192.0.2.{n}")
        for n in (1, 2)
    ]
    values = {"srt_base_url": "srt://in.example:9"}
    async with (
        GatewayServer().running() as server,
        operated_namespace.operator(ingest=settings(server, **values)),
    ):
        await kept(operated_namespace, f"rtmp://192.0.2.1:{ports['rtmp']}/live")
        await say_ready(operated_namespace, nodes[0], "192.0.2.1", "Unknown")
        await kept(operated_namespace, f"rtmp://192.0.2.2:{ports['rtmp']}/live")
        await say_ready(operated_namespace, nodes[0], "192.0.2.1", "True")
        await operated_namespace.collection()
        await camera(operated_namespace)
        status = await status_with(operated_namespace, lastError="never connected")
        assert status["address"]["baseUrl"] == f"rtmp://192.0.2.2:{ports['rtmp']}/live", "it stays"


async def make_node(operated_namespace: OperatedNamespace, name: str, address: str) -> str:
    document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    await operated_namespace.client.create(NODES, None, document)
    await say_ready(operated_namespace, name, address, "True")
    return name


async def say_ready(operated_namespace: OperatedNamespace, name: str, address: str, ready: str) -> None:
    status: dict[str, Any] = {
        "conditions": [{"type": "Ready", "status": ready, "reason": "Test", "message": ""}],
        "addresses": [
            {"type": "InternalIP", "address": "10.9.9.9"},
            {"type": "ExternalIP", "address": address},
        ],
    }
    await operated_namespace.client.merge_patch(NODES, None, name, {"status": status}, "status")


async def test_each_region_has_an_address_of_its_own_and_waits_for_no_other(
    operated_namespace: OperatedNamespace,
) -> None:
    regions = {"onair-ingest": "", "onair-ingest-eu": "eu", "onair-ingest-us": "us"}
    for name in regions:
        await make_service(operated_namespace, "LoadBalancer", name)
    await balance(operated_namespace, ip="192.0.2.1")
    await balance(operated_namespace, "onair-ingest-eu", ip="192.0.2.2")
    services = [IngestServiceSettings(name=name, region=region) for name, region in regions.items()]
    async with GatewayServer().running() as server:
        ingest = IngestSettings(gateways=[server.settings], services=services)
        async with operated_namespace.operator(ingest=ingest):
            found = await kept(operated_namespace, "rtmp://192.0.2.2:1935/live")
            assert found.missing == "Service onair-ingest-us has not been given a load balancer's address"
            await operated_namespace.collection()
            await camera(operated_namespace)
            await status_with(operated_namespace, lastError="never connected")
            await balance(operated_namespace, "onair-ingest-us", hostname="us.example")

            async def told() -> Document | None:
                status = ((await operated_namespace.get("Source", "camera")) or {})["status"]
                return status["address"] if "us.example" in str(status["address"]) else None

            address = await until(told, "the source has it")
    assert address["baseUrl"] == "rtmp://192.0.2.1:1935/live"
    by_rtmp = [each for each in address["endpoints"] if each["protocol"] == "rtmp"]
    assert {each.get("region", ""): each["baseUrl"] for each in by_rtmp} == {
        "": "rtmp://192.0.2.1:1935/live",
        "eu": "rtmp://192.0.2.2:1935/live",
        "us": "rtmp://us.example:1935/live",
    }
