"""Brings our images onto nodes, under the name by which pods refer to them: pulled, or handed over whole."""

import time
from collections.abc import Sequence

from onair_dev.cluster.images import Image
from onair_dev.cluster.registry import reference_for_pods
from onair_dev.commands import Cancelled, output_of, run_logged
from onair_dev.failures import Failed

CERTS_D = "/etc/containerd/certs.d"
ATTEMPTS = 3
HAND_OVER = 'docker save "$@" | docker exec --interactive "$0" ctr --namespace k8s.io images import -'
"""A script of bash: `$0` is the node, the rest are names of images. What they share is sent once."""


def pull(node: str, images: Sequence[Image]) -> None:
    """Pulls missing images onto a node. What an attempt has fetched stays there, so the next goes on from it.

    Raises:
        Failed: an image could not be pulled in ATTEMPTS attempts; it names the node and the cause.
    """
    for reference in missing(node, images):
        command = [*_ctr(node), "pull", "--hosts-dir", CERTS_D, reference]
        _insist(f"{node} could not pull {reference}", f"pull-{node}", command)


def import_into(node: str, images: Sequence[Image]) -> None:
    """Hands missing images over to a node, out of the engine; they have to be `registry.named_for_pods`.

    Raises:
        Failed: that failed ATTEMPTS times; it names the node and the cause.
    """
    if references := missing(node, images):
        command = ["bash", "-o", "pipefail", "-c", HAND_OVER, node, *references]
        _insist(f"{node} could not import images", f"import-{node}", command)


def missing(node: str, images: Sequence[Image]) -> list[str]:
    """Returns the names for pods of those images that a node does not have."""
    present = set(output_of([*_ctr(node), "ls", "-q"]).split())
    return [name for name in map(reference_for_pods, images) if name not in present]


def _ctr(node: str) -> list[str]:
    return ["docker", "exec", node, "ctr", "--namespace", "k8s.io", "images"]


def _insist(doing: str, log_name: str, command: list[str]) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            run_logged(doing, f"{log_name}-{attempt}", command, remedy="retry")
            return
        except Cancelled:
            raise
        except Failed:
            if attempt == ATTEMPTS:
                raise
            time.sleep(attempt)
