"""What labels nodes that have the seccomp profile of the browser, with the token that its pod would have."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.support.control_plane import ControlPlane

from onair_operator.sandbox.node_label import NodeLabel

NAMESPACE = ACCOUNT = "onair-sandbox"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"


def labeller(
    plane: ControlPlane,
    admin: httpx.Client,
    node: str,
    label: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    on: str | None = None,
) -> NodeLabel:
    """Writes a node's label with the token of a pod on that node, or on another one.

    Args:
        folder: for its files, where its mount would be.
    """
    pod = f"onair-sandbox-{on or node}"
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
    if admin.get(f"{pods}/{pod}").is_error:
        spec = {
            "nodeName": on or node,
            "serviceAccountName": ACCOUNT,
            "containers": [{"name": "a", "image": "a"}],
        }
        admin.post(pods, json={"metadata": {"name": pod}, "spec": spec}).raise_for_status()
    uid = admin.get(f"{pods}/{pod}").raise_for_status().json()["metadata"]["uid"]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": pod, "uid": uid}
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
    response = admin.post(path, json={"spec": {"boundObjectRef": bound}}).raise_for_status()
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(response.json()["status"]["token"])
    (folder / "ca.crt").write_bytes(plane.ca_certificate)
    server = urlsplit(plane.url)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", server.hostname or "")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
    return NodeLabel(node, label, folder)
