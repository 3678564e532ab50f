"""What an encoder in the cluster says of itself, and waiting for what shows of it later."""

from __future__ import annotations

import re

from tests.support.cluster import LocalCluster

from onair_crds.contract.pod import METRICS_PORT


def metric(cluster: LocalCluster, pod: str, name: str) -> float | None:
    """None while the encoder does not know it yet."""
    url = f"http://127.0.0.1:{METRICS_PORT}/metrics"
    read = f"import urllib.request as r; print(r.urlopen('{url}').read().decode())"
    text = cluster.shows("exec", pod, "-c", "encoder", "--", "python3", "-c", read)
    found = re.search(rf"^onair_encoder_{name} (\S+)", text, re.MULTILINE)
    return float(found[1]) if found else None


def wait_reduced(cluster: LocalCluster, pod: str) -> None:
    """Until its page is painted once for each frame."""

    def reduced() -> bool:
        if metric(cluster, pod, "captures_in_step") == 0:
            # ffmpeg was late, as others began beside it, and stays so until it is started again
            cluster.kill_program(pod, "encoder", "x11grab")
            cluster.until("captures again", lambda: metric(cluster, pod, "captures_in_step") is not None)
        return (metric(cluster, pod, "paints_per_second") or 60) < 31

    # Raised as a show began, perhaps twice: it waits for 20 and then 40 s before it is reduced again
    cluster.until("its reduced rate of paints", reduced, 150)
