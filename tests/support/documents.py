"""Kubernetes objects as the API server gives them."""

from __future__ import annotations

import itertools
from typing import Any

from onair_crds.shapes import Document

VERSIONS = itertools.count(1)


def document(name: str, spec: Document | None = None, **metadata: Any) -> Document:
    """An object of a version of its own, newer than all before."""
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": str(next(VERSIONS)),
            "creationTimestamp": "2026-05-01T10:00:00Z",
            **metadata,
        },
        "spec": spec or {},
    }


def destination_document(name: str, project: str, secret: str | None = None, **metadata: Any) -> Document:
    reference = {"keySecretRef": {"name": secret, "key": "k"}} if secret else {}
    address = {"rtmpPush": {"url": "rtmp://media.example/live", **reference}}
    return document(name, {"projectId": project, "address": address}, **metadata)


def credentials_document(name: str, made_for: str, kind: str = "destination", **metadata: Any) -> Document:
    labels = {f"onair.dev/{kind}": made_for}
    return {"type": "onair.dev/credentials", **document(name, labels=labels, **metadata)}
