"""What the cluster stores of a destination: its address, its Secrets."""

from __future__ import annotations

from tests.support.facade import Cluster

from onair_crds.shapes import JsonObject


def address_of(cluster: Cluster, destination: JsonObject) -> JsonObject:
    """The stored address."""
    return cluster.get("destinations", destination["destinationId"])["spec"]["address"]  # type: ignore[no-any-return]


def secret_of(cluster: Cluster, destination: JsonObject) -> JsonObject:
    """The Secret that an RTMP destination names."""
    name = address_of(cluster, destination)["rtmpPush"]["keySecretRef"]["name"]
    return next(s for s in cluster.secrets() if s["metadata"]["name"] == name)


def secrets_of(cluster: Cluster, destination: JsonObject) -> list[JsonObject]:
    label = destination["destinationId"]
    return [
        s
        for s in cluster.secrets()
        if (s["metadata"].get("labels") or {}).get("onair.dev/destination") == label
    ]
