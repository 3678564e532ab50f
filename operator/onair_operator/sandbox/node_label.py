"""Keeps a node's label true: that pages can be sandboxed on it.

Uses only the standard library, as it stays on every node: the operator's client would take 60 MiB.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from threading import Event

from onair_crds.contract.labels import SANDBOX_INSTALLED
from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.user_namespaces import refusal

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
READY = Path("/tmp/labelled")  # noqa: S108 - a volume of the container's own, which probes look at
INTERVAL_S, RETRY_S = 300.0, 5.0
TIMEOUT_S = 10.0
MERGE_PATCH = "application/merge-patch+json"


class NodeLabel:
    """One label of one node, written to the API server of the pod that this runs in."""

    def __init__(self, node: str, label: str, account: Path = ACCOUNT) -> None:
        self._node, self._label, self._account = node, label, account

    def write(self, value: str | None) -> None:
        """Sets the label, or removes it.

        Raises:
            OSError: the API server is unreachable.
            LabelRefused: it refused.
        """
        body = json.dumps({"metadata": {"labels": {self._label: value}}})
        token = (self._account / "token").read_text()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": MERGE_PATCH}
        connection = http.client.HTTPSConnection(
            os.environ["KUBERNETES_SERVICE_HOST"],
            int(os.environ["KUBERNETES_SERVICE_PORT"]),
            timeout=TIMEOUT_S,
            context=ssl.create_default_context(cafile=str(self._account / "ca.crt")),
        )
        try:
            connection.request("PATCH", f"/api/v1/nodes/{self._node}", body, headers)
            response = connection.getresponse()
            response.read()
        except http.client.HTTPException as error:
            raise OSError(type(error).__name__) from error
        finally:
            connection.close()
        if response.status >= 400:
            raise LabelRefused(f"the API server responds with HTTP {response.status}")


class LabelRefused(Exception):
    """The API server took no label; the text says with what status it responded."""


def keep(label: NodeLabel, stop: Event, why_not: Callable[[], str | None] = refusal) -> None:
    """Writes the label now and then until `stop` is set: somebody may have removed it.

    Args:
        why_not: tries what Chromium's sandbox needs; why it does not work here, or None.
    """
    said: tuple[bool, str | None] | None = None
    while not stop.is_set():
        refused = why_not()
        written, problem = _write(label, None if refused else SANDBOX_INSTALLED)
        if written and refused is None:
            READY.touch()
        else:
            READY.unlink(missing_ok=True)
        if (written, found := problem or refused) != said:
            if found:
                log("node.not-labelled", error=found)
            else:
                log("node.labelled")
            said = (written, found)
        stop.wait(INTERVAL_S if written and refused is None else RETRY_S)


def _write(label: NodeLabel, value: str | None) -> tuple[bool, str | None]:
    """Whether the label was written, and why not."""
    try:
        label.write(value)
    except (OSError, LabelRefused) as error:
        return False, f"the node's label could not be written: {error}"
    return True, None
