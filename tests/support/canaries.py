"""Secrets of an installation, and all places outside of Secrets that one could have got to."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterator
from urllib.parse import quote

from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.core_dumps import CoreDumps
from tests.support.helm import KEYS
from tests.support.node_labeller import NAMESPACE as SANDBOX

from onair_crds.shapes import Document

SHORTEST = 12
NOT_SECRET = {
    "hash",
    "serviceId",
    "collectionId",
    "projectId",
    "role",
    "scopes",
    "public.pem",
    "certificate.pem",
    "tls.crt",
    "ca.crt",
    "publishHash",
    "readHash",
    "apiHash",
}
"""Keys of Secrets whose values may be known: hashes of random keys, public halves, names."""
NAMESPACES = (SYSTEM, SHOWS, KEYS, SANDBOX)
SEPARATOR = "== process"
METRICS_PORTS = {"http", "metrics"}
TOKEN = re.compile(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}")
"""JSON, JSON and a signature, in base64."""
PROGRAMS = (
    *(f"onair_{each}" for each in ("operator", "api", "ingest", "encoder")),
    *("redis-server", "mediamtx", "livekit-server"),
    *("chromium", "ffmpeg", "Xvfb", "pulseaudio"),
)
"""All that runs in pods and may hold a secret."""


def namespaces(cluster: LocalCluster) -> list[str]:
    """Those of the installation: which it has is up to its values."""
    there = cluster.kubectl("get", "namespaces", "-o", "jsonpath={.items[*].metadata.name}").split()
    return [each for each in NAMESPACES if each in there]


def secrets_of(cluster: LocalCluster) -> dict[str, str]:
    """Where each secret value is, by what stands for it: a long line, where it has several."""
    found = {}
    for namespace in namespaces(cluster):
        for secret in cluster.list("secret", namespace=namespace):
            if secret["type"].startswith("helm.sh/"):
                continue
            for key, value in (secret.get("data") or {}).items():
                if key in NOT_SECRET:
                    continue
                lines = base64.b64decode(value).decode(errors="replace").splitlines()
                lines = [line for line in lines if len(line) >= SHORTEST and "-----" not in line]
                if lines:
                    found[max(lines, key=len)] = f"{namespace}/{secret['metadata']['name']}: {key}"
    return found


def spellings(value: str) -> set[str]:
    """A value as it is, in a url, in JSON and in base64."""
    return {value, quote(value, safe=""), json.dumps(value)[1:-1], base64.b64encode(value.encode()).decode()}


def tokens_in(text: str) -> set[str]:
    """All that is a token by its form, whoever has signed it."""
    return {found.group().rsplit(".", 1)[1] for found in TOKEN.finditer(text)}


def places(cluster: LocalCluster) -> Iterator[tuple[str, str]]:
    """What each place says: logs, those of nodes and of ended containers too, objects and statuses, Events,
    metrics, command lines, environments.
    """
    listed = cluster.kubectl("api-resources", "--verbs=list", "--namespaced", "-o", "name").split()
    kinds = ",".join(each for each in listed if each != "secrets")
    for namespace in namespaces(cluster):
        yield f"objects in {namespace}", cluster.kubectl("-n", namespace, "get", kinds, "-o", "json")
        for pod in cluster.list("pod", namespace=namespace):
            name = pod["metadata"]["name"]
            yield (
                f"log of {name}",
                cluster.kubectl("-n", namespace, "logs", name, "--all-containers", "--tail=-1"),
            )
            yield from metrics_of(cluster, namespace, pod)
    for node in nodes(cluster):
        yield f"log of {node}", on_node(node, "journalctl --no-pager -o cat")
        kept = " ".join(f"/var/log/pods/{each}_*/*/*.log*" for each in namespaces(cluster))
        yield f"logs that {node} keeps", on_node(node, f"cat {kept}")
        for what, file in (("command lines", "cmdline"), ("environments", "environ")):
            yield f"{what} on {node}", on_node(node, f"cat /proc/[0-9]*/{file} | tr '\\0' ' '")


def metrics_of(cluster: LocalCluster, namespace: str, pod: Document) -> Iterator[tuple[str, str]]:
    """What each of a pod's ports of metrics says."""
    name = pod["metadata"]["name"]
    for container in pod["spec"]["containers"]:
        for port in container.get("ports", []):
            if port.get("name") not in METRICS_PORTS:
                continue
            path = f"/api/v1/namespaces/{namespace}/pods/{name}:{port['containerPort']}/proxy/metrics"
            try:
                text = cluster.kubectl("get", "--raw", path)
            except subprocess.CalledProcessError:
                continue
            if "# TYPE" in text:
                yield f"metrics of {name}", text


def nodes(cluster: LocalCluster) -> list[str]:
    return cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").split()


def on_node(node: str, script: str) -> str:
    """Runs a script in a node's container, where the processes of all its pods are seen."""
    done = subprocess.run(
        ["docker", "exec", node, "sh", "-c", f"({script}) 2>/dev/null"], check=False, capture_output=True
    )
    return done.stdout.decode(errors="replace")


def core_dumps(cluster: LocalCluster) -> list[tuple[str, CoreDumps]]:
    """The program of each process in pods that may hold a secret, and what the kernel says of it."""
    # A search that has brackets in its text does not find itself
    sought = "|".join(f"[{each[0]}]{each[1:]}" for each in PROGRAMS)
    script = f"""
    for each in /proc/[0-9]*; do
      program=$(tr '\\0' ' ' <$each/cmdline | grep -oE '{sought}' | head -n 1)
      if [ -n "$program" ]; then
        echo "{SEPARATOR} $program"
        grep 'Max core' $each/limits
        grep SigCgt $each/status
        tr '\\0' ' ' <$each/environ
        echo
      fi
    done"""
    found = []
    for node in nodes(cluster):
        for part in on_node(node, script).split(SEPARATOR)[1:]:
            program, _, said = part.partition("\n")
            if "Max core" in said and "SigCgt" in said:  # it has not ended meanwhile
                found.append((program.strip(), CoreDumps.of(said, said, said)))
    return found
