"""Specs of resources, and an API server that takes them."""

from __future__ import annotations

import copy

import httpx

from onair_crds.resources.base import API_VERSION
from onair_crds.resources.kinds import KINDS
from onair_crds.shapes import Document

PROJECT: Document = {"collectionId": "sunday"}
DESTINATION: Document = {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://media.example/live"}}}
SOURCE: Document = {"collectionId": "sunday", "address": {"rtmpPush": {}}}
COLLECTION: Document = {"owner": {"serviceId": "studio", "serviceUserId": "anna"}}
LAYOUT: Document = {"projectId": "show"}
GOOD = {
    "Collection": COLLECTION,
    "Project": PROJECT,
    "Source": SOURCE,
    "Destination": DESTINATION,
    "Layout": LAYOUT,
}
PLURAL = {kind.kind: kind.plural for kind in KINDS}
STORAGE: Document = {
    "region": "eu-central-1",
    "bucket": "shows",
    "accessKeySecretRef": {"name": "s3", "key": "id"},
    "secretKeySecretRef": {"name": "s3", "key": "secret"},
    "packaging": {"hls": {}},
}


def merged(base: Document, change: Document) -> Document:
    result = copy.deepcopy(base)
    for key, value in change.items():
        result[key] = (
            merged(result[key], value)
            if isinstance(value, dict) and isinstance(result.get(key), dict)
            else value
        )
    return result


class NamespaceApi:
    """The API of one namespace."""

    def __init__(self, admin: httpx.Client, namespace: str) -> None:
        self.admin, self.namespace = admin, namespace

    def path(self, kind: str, name: str = "") -> str:
        return f"/apis/{API_VERSION}/namespaces/{self.namespace}/{PLURAL[kind]}" + (
            f"/{name}" if name else ""
        )

    def create(self, kind: str, spec: Document, name: str = "x", **params: str) -> httpx.Response:
        body = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        return self.admin.post(self.path(kind), json=body, params=params)

    def put(self, kind: str, document: Document) -> httpx.Response:
        return self.admin.put(self.path(kind, document["metadata"]["name"]), json=document)
