"""What a cloud's controller does, where there is none: Services of the type LoadBalancer get addresses."""

from __future__ import annotations

import json
import threading
from types import TracebackType
from typing import Self

from tests.support.cluster import LocalCluster

POLL_S = 0.3


class CloudBalancers:
    """Gives each Service of a namespace the address of a node of its own, at which nodes pass its ports on.

    Use as a context manager; what is left of errors is raised at the end.
    """

    def __init__(self, cluster: LocalCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self.given: dict[str, str] = {}
        """Addresses by the names of Services."""
        self._error: Exception | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        if self._error and not error:
            raise self._error

    def _run(self) -> None:
        try:
            free = [
                each["address"]
                for node in self._cluster.list("node")
                for each in node["status"]["addresses"]
                if each["type"] == "InternalIP"
            ]
            while not self._ending.wait(POLL_S):
                for service in self._cluster.list("service", namespace=self._namespace):
                    name = service["metadata"]["name"]
                    if service["spec"]["type"] == "LoadBalancer" and name not in self.given:
                        self._give(name, free.pop())
        except Exception as error:  # noqa: BLE001 - raised where the context ends
            self._error = error

    def _give(self, name: str, address: str) -> None:
        status = json.dumps({"status": {"loadBalancer": {"ingress": [{"ip": address}]}}})
        patch = ("patch", "service", name, "--subresource=status", "--type=merge", "-p", status)
        self._cluster.kubectl("-n", self._namespace, *patch)
        self.given[name] = address
