"""Paths of each kind in the Kubernetes API."""

from __future__ import annotations

from typing import NamedTuple

from onair_crds.resources.base import GROUP, VERSION, Resource
from onair_crds.resources.kinds import KINDS


class Api(NamedTuple):
    """Where a kind lives: `/api/v1` or `/apis/GROUP/VERSION`, and its plural."""

    prefix: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None, name: str = "", subresource: str = "") -> str:
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        parts = [f"{self.prefix}{scope}/{self.plural}", name, subresource]
        return "/".join(part for part in parts if part)


def api_of(kind: type[Resource]) -> Api:
    """Where a custom resource lives."""
    return Api(f"/apis/{GROUP}/{VERSION}", kind.plural)


CUSTOM = {kind.kind: api_of(kind) for kind in KINDS}
PODS = Api("/api/v1", "pods")
SECRETS = Api("/api/v1", "secrets")
CONFIG_MAPS = Api("/api/v1", "configmaps")
SERVICES = Api("/api/v1", "services")
EVENTS = Api("/api/v1", "events")
NODES = Api("/api/v1", "nodes", namespaced=False)
NAMESPACES = Api("/api/v1", "namespaces", namespaced=False)
LEASES = Api("/apis/coordination.k8s.io/v1", "leases")
