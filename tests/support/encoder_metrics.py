"""What an encoder in the cluster says of itself, and waiting for what shows of it later."""

from __future__ import annotations

import re
import time

from tests.support.cluster import LocalCluster

from onair_crds.contract.pod import METRICS_PORT

REDUCED_WITHIN_S = 150.0
"""Raised as a show began, perhaps twice, the rate waits for 20 and then 40 s before it is reduced again."""
MAX_RESTARTS = 3
POLL_S = 2.0
"""Each look starts two programs, which would keep paints uneven if there were more."""


def metric(cluster: LocalCluster, pod: str, name: str) -> float | None:
    """None while the encoder does not know it yet."""
    url = f"http://127.0.0.1:{METRICS_PORT}/metrics"
    read = f"import urllib.request as r; print(r.urlopen('{url}').read().decode())"
    text = cluster.shows("exec", pod, "-c", "encoder", "--", "python3", "-c", read)
    found = re.search(rf"^onair_encoder_{name} (\S+)", text, re.MULTILINE)
    return float(found[1]) if found else None


def wait_reduced(cluster: LocalCluster, pod: str) -> bool:
    """Waits until its page is painted once for each frame; whether it is.

    On a node that is slow at present paints are uneven, and it may never be.
    """
    restarts = 0
    deadline_s = time.monotonic() + REDUCED_WITHIN_S
    while time.monotonic() < deadline_s:
        if metric(cluster, pod, "captures_in_step") == 0 and restarts < MAX_RESTARTS:
            restarts += 1
            # ffmpeg was late, as others began beside it, and stays so until it is started again
            cluster.kill_program(pod, "encoder", "x11grab")
            cluster.until("captures again", lambda: metric(cluster, pod, "captures_in_step") is not None)
        if (metric(cluster, pod, "paints_per_second") or 60) < 31:
            return True
        time.sleep(POLL_S)
    return False
