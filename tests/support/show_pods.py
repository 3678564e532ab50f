"""Encoder pods as an installation's operator makes them, and whether an API server admits them."""

from __future__ import annotations

import httpx
import yaml
from tests.support.helm import SHOWS, named, render

from onair_crds.shapes import Document
from onair_operator.encoder.cost import Cost
from onair_operator.settings import OperatorSettings
from onair_operator.specs.pod_manifest import unclaimed_pod

PODS = f"/api/v1/namespaces/{SHOWS}/pods"


def encoder_pod(*options: str) -> Document:
    """Gives the pod that the operator makes by the chart's settings."""
    config = named(render(*options), "ConfigMap", "onair-operator")["data"]["config.yaml"]
    settings = OperatorSettings.model_validate(yaml.safe_load(config))
    settings.encoder.priority_class_name = None  # its controller does not run here
    return unclaimed_pod("show-run-1", settings.encoder, settings.inside, Cost(400, 300, 640, 256), [])


def refusal(client: httpx.Client, pod: Document, namespace: str = SHOWS) -> str:
    """Why a pod is refused; empty where it is admitted."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    return why(client.post(pods, params={"dryRun": "All"}, json=pod))


def why(response: httpx.Response) -> str:
    """Why the API server refuses; empty where it does not."""
    return "" if response.is_success else str(response.json()["message"])
