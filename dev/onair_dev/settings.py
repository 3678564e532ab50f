"""Names, folders and ports of the local environment; most can be changed by environment variables."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onair"
KIND_NODE = ROOT / "images/kind-node"
KIND_NODE_OUT = Path(os.environ.get("KIND_NODE_OUT") or CACHE / "kind-node")
NODE_BUILT = "kind-node:v1.34.4"
"""Node image that images/kind-node/build builds."""
NODE_PUBLIC = "kindest/node:v1.34.0"
"""Node image that is used where it can be pulled."""
VENV = ROOT / ".venv"

CLUSTER = os.environ.get("ONAIR_CLUSTER", "onair")
KUBECONFIG = CACHE / f"{CLUSTER}.kubeconfig"
RELEASE = "onair"
NAMESPACE = "onair-system"

PORTS = CACHE / f"{CLUSTER}.ports.json"
"""The ports that the cluster was created with: it keeps them until `make down`, where no variable is set."""


def _kept_ports() -> dict[str, int]:
    try:
        kept: dict[str, int] = json.loads(PORTS.read_text())
    except (OSError, ValueError):
        return {}
    return kept


_KEPT_PORTS = _kept_ports()


def _port(variable: str, default: int) -> int:
    return int(os.environ.get(variable) or _KEPT_PORTS.get(variable, default))


REGISTRY_PORT = _port("ONAIR_REGISTRY_PORT", 5001)
"""Port that this machine pushes to; nodes pull by the same name, see cluster/registry.py."""
REGISTRY_CONTAINER = "onair-registry"

NODE_PORTS = {
    30080: _port("ONAIR_API_PORT", 8080),
    30935: _port("ONAIR_RTMP_PORT", 1935),
    30888: _port("ONAIR_HLS_PORT", 8888),
    30997: _port("ONAIR_MEDIAMTX_API_PORT", 9997),
    30554: _port("ONAIR_RTSP_PORT", 8554),
    30936: _port("ONAIR_INGEST_RTMP_PORT", 1936),
}
"""Maps the NodePort of a service (dev/values.yaml) to its port on 127.0.0.1."""
UDP_NODE_PORTS = {30890: _port("ONAIR_INGEST_SRT_PORT", 8890)}
"""The same for UDP."""

PORT_VARIABLES = {
    30080: "ONAIR_API_PORT",
    30935: "ONAIR_RTMP_PORT",
    30888: "ONAIR_HLS_PORT",
    30997: "ONAIR_MEDIAMTX_API_PORT",
    30554: "ONAIR_RTSP_PORT",
    30936: "ONAIR_INGEST_RTMP_PORT",
    30890: "ONAIR_INGEST_SRT_PORT",
}

NODES = [
    ("control-plane", {}),
    ("worker", {"topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": "us-east-1a"}),
    (
        "worker",
        {"topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": "eu-central-1a"},
    ),
]
"""Role and labels of each node."""


def ports() -> dict[str, int]:
    """Returns the local ports, by the variables that choose them."""
    published = {**NODE_PORTS, **UDP_NODE_PORTS}
    chosen = {variable: published[inside] for inside, variable in PORT_VARIABLES.items()}
    return {**chosen, "ONAIR_REGISTRY_PORT": REGISTRY_PORT}


def url() -> str:
    """Returns the URL of the local cluster's HTTP API."""
    return f"http://localhost:{NODE_PORTS[30080]}"
