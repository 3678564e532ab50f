"""An installation in the cluster of the tests: its namespaces, and the rights of its facade."""

from __future__ import annotations

import secrets
from pathlib import Path

import httpx
from tests.support.control_plane import ControlPlane
from tests.support.facade import StoredResources

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP
from onair_crds.shapes import Document

RIGHTS = {
    "shows": [
        (
            "onair.dev",
            ["collections", "projects", "sources", "destinations", "layouts"],
            "get list watch create patch delete",
        ),
        ("", ["secrets"], "get list watch create delete"),
        ("", ["pods"], "get"),
    ],
    "release": [
        ("", ["secrets"], "get list watch create"),
        ("", [f"configmaps/{ADDRESSES_CONFIG_MAP}"], "list watch"),
    ],
}
"""All that the facade may do, as in the chart; a name after the plural is the only one it may name."""


def new_installation(admin: httpx.Client) -> StoredResources:
    """Namespaces of their own for an installation."""
    shows, release = (f"{kind}-{secrets.token_hex(3)}" for kind in ("shows", "release"))
    for name in (shows, release):
        admin.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
    return StoredResources(admin, shows, release)


def grant(control_plane: ControlPlane, resources: StoredResources) -> Path:
    """The kubeconfig of a service account with exactly the rights that the chart gives."""
    user = f"system:serviceaccount:{resources.release}:onair-api"
    for scope, namespace in (("shows", resources.shows), ("release", resources.release)):
        root = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        rules = [_rule(*right) for right in RIGHTS[scope]]
        metadata = {"name": "onair-api"}
        resources.admin.post(f"{root}/roles", json={"metadata": metadata, "rules": rules}).raise_for_status()
        binding = {
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "onair-api"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}],
        }
        resources.admin.post(f"{root}/rolebindings", json=binding).raise_for_status()
    return control_plane.kubeconfig_for(user)


def _rule(group: str, resources: list[str], verbs: str) -> Document:
    plurals = [each.partition("/")[0] for each in resources]
    names = [name for each in resources if (name := each.partition("/")[2])]
    return {
        "apiGroups": [group],
        "resources": plurals,
        "verbs": verbs.split(),
        **({"resourceNames": names} if names else {}),
    }
