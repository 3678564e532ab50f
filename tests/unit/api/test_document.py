"""The OpenAPI document without a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def test_the_document_is_written_without_a_cluster() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "ONAIR"))}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "onair_api.document"]
    result = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
    document = json.loads(result.stdout)
    assert document["info"]["title"] == "OnAir"
    operations = {op["operationId"] for path in document["paths"].values() for op in path.values()}
    assert {"CreateSource", "CreateGuestAccessToken", "GuestCodeRedirect"} <= operations
    assert result.stderr == b""
