"""Where publishers outside of the cluster reach a Service of ingest. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from onair_crds.contract.ingest import APPLICATION, IngestEndpoint
from onair_crds.contract.labels import REGION_LABEL
from onair_crds.shapes import Document

NOT_FOR_OTHERS = "node.kubernetes.io/exclude-from-external-load-balancers"
"""Label of nodes that load balancers leave out, as those of control planes."""
ADDRESS_TYPES = ("ExternalIP", "ExternalDNS", "InternalIP")
"""Of a node's addresses, the best first."""
NODE_PORT = "NodePort"


def address_of_node(node: Document) -> str | None:
    """Its external address, else its internal one; None while it is not ready, or has none."""
    status = node.get("status") or {}
    ready = {each["type"]: each["status"] for each in status.get("conditions") or []}.get("Ready")
    if ready != "True" or node["metadata"].get("deletionTimestamp"):
        return None
    found = {each["type"]: each["address"] for each in reversed(status.get("addresses") or [])}
    return next((found[each] for each in ADDRESS_TYPES if found.get(each)), None)


def best_node(nodes: Iterable[Document], region: str, former: Collection[str]) -> Document | None:
    """The node that publishers are sent to: one that they know, else one of the region."""

    def rank(node: Document) -> tuple[bool, bool, bool, bool, bool, str]:
        labels = node["metadata"].get("labels") or {}
        types = {each["type"] for each in (node.get("status") or {}).get("addresses") or []}
        return (
            address_of_node(node) not in former,
            labels.get(REGION_LABEL, "") != region,
            not types & {"ExternalIP", "ExternalDNS"},
            NOT_FOR_OTHERS in labels,
            bool((node.get("spec") or {}).get("unschedulable")),
            node["metadata"]["name"],
        )

    return min((each for each in nodes if address_of_node(each)), key=rank, default=None)


def endpoints_of(service: Document, region: str, node_address: str | None) -> list[IngestEndpoint]:
    """The addresses of a Service; none while it has none."""
    spec = service["spec"]
    host: str | None
    match spec.get("type"):
        case "LoadBalancer":
            host = _balancer(service)
        case "NodePort":
            host = node_address
        case _:
            host = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"
    found = []
    for port in spec.get("ports") or []:
        number = port.get("nodePort") if spec.get("type") == NODE_PORT else port["port"]
        if host and number and port.get("name") in ("rtmp", "rtmps", "srt"):
            authority = f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
            path = "" if port["name"] == "srt" else f"/{APPLICATION}"
            url = f"{port['name']}://{authority}{path}"
            found.append(IngestEndpoint(protocol=port["name"], region=region, base_url=url))
    return found


def missing_of(service: Document) -> str:
    """Why a Service without an address has none."""
    name = service["metadata"]["name"]
    if service["spec"].get("type") == NODE_PORT:
        return f"no node is ready that Service {name} could be reached at"
    return f"Service {name} has not been given a load balancer's address"


def _balancer(service: Document) -> str | None:
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    return next((host for each in ingress if (host := each.get("hostname") or each.get("ip"))), None)
