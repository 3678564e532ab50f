"""Has kube-router enforce the NetworkPolicies of a kind cluster, whose own network does not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.cluster import LocalCluster
from tests.support.docker import own_image
from tests.support.programs import program
from tests.support.waiting import wait_for

IMAGE = "kube-router"
ENFORCED = "sync iptables took"
"""What kube-router says whenever it has brought the rules of its node up to date, or has failed to."""
FAILED = "Aborting sync"
START_S = 30.0
STOP_S = 30.0


class Firewall:
    """kube-router in the network of a node. It ends with this process, however that does."""

    def __init__(self, node: str, pod_ranges: Iterable[str], kubeconfig: str, log: Path) -> None:
        self._node = node
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    *("docker", "run", "--rm", "--interactive", "--network", f"container:{node}"),
                    *("--cap-add", "NET_ADMIN", own_image(IMAGE), node, *pod_ranges),
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        assert self._process.stdin
        self._process.stdin.write(f"{kubeconfig}\n...\n".encode())
        self._process.stdin.flush()

    def wait_until_it_enforces(self) -> None:
        def enforces() -> bool:
            assert self._process.poll() is None, f"{self._node}: it has ended: {self._end()}"
            return ENFORCED in self._said()

        wait_for(enforces, f"policies are enforced at {self._node}", START_S, poll_s=0.1, state=self._end)

    def stop(self) -> None:
        """Ends it, and fails where rules were left, or had not been as policies are."""
        assert self._process.stdin
        self._process.stdin.close()
        code = self._process.wait(STOP_S)
        said = self._said()
        assert code == 0, f"{self._node}: exit code {code}: {self._end()}"
        assert FAILED not in said, f"{self._node}: {said[said.index(FAILED) :][:2000]}"

    def _end(self) -> str:
        return self._said()[-2000:]

    def _said(self) -> str:
        return self._log.read_text(errors="replace")


class Enforcement:
    """Whether what the cluster's policies do not allow is rejected, of pods that come later, too."""

    def __init__(self, cluster: LocalCluster, logs: Path) -> None:
        """
        Args:
            logs: the folder to which kube-router's are written.
        """
        nodes = cluster.list("node")
        self._ranges = {each["metadata"]["name"]: str(each["spec"]["podCIDR"]) for each in nodes}
        inside = [str(program("kind")), "get", "kubeconfig", "--internal", "--name", cluster.name]
        self._kubeconfig = subprocess.run(inside, check=True, capture_output=True, text=True).stdout
        self._logs = logs
        self._firewalls: list[Firewall] = []

    def begin(self) -> None:
        for node in self._ranges:
            log = self._logs / f"{node}.log"
            self._firewalls.append(Firewall(node, self._ranges.values(), self._kubeconfig, log))
        for each in self._firewalls:
            each.wait_until_it_enforces()

    def end(self) -> None:
        with ExitStack() as stack:
            while self._firewalls:
                stack.callback(self._firewalls.pop().stop)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Nothing is rejected meanwhile."""
        self.end()
        try:
            yield
        finally:
            self.begin()


@contextmanager
def enforced(cluster: LocalCluster, logs: Path) -> Iterator[Enforcement]:
    """What the cluster's policies do not allow is rejected meanwhile."""
    enforcement = Enforcement(cluster, logs)
    try:
        enforcement.begin()
        yield enforcement
    finally:
        enforcement.end()
