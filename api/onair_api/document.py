"""`python -m onair_api.document`: writes the OpenAPI document to standard output, without a cluster."""

from __future__ import annotations

import sys

import orjson
from kubernetes.aio import client

from onair_api.application import create_app
from onair_api.settings import Settings
from onair_crds.kube.client import KubeClient


def main() -> None:
    """Writes the OpenAPI document to standard output, without a cluster."""
    app = create_app(Settings(), KubeClient(client.ApiClient(client.Configuration())))
    sys.stdout.buffer.write(orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
