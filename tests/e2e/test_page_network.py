"""A hostile page in the cluster reaches nothing of it, while its show goes on."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster, address
from tests.support.ingest.pod_page import URL, page_in_pod
from tests.support.inside import CONNECT
from tests.support.media.stream import gray_frames
from tests.support.receiver import ReceiverClient, rtsp_url
from tests.support.shows import LiveShow

PAGE = """<!doctype html><style>html {background: #808080}</style><script>
const tries = URLS.map(url => Promise.race([
  fetch(url, {mode: 'no-cors'}).then(() => true, () => false),
  new Promise(done => setTimeout(done, 5000, false)),
]));
Promise.all(tries).then(all => {
  document.documentElement.style.background = all.some(reached => reached) ? '#000' : '#fff';
});
</script>"""
"""Black where one of the addresses was reached, else white."""


def connected(cluster: LocalCluster, pod: str, container: str, *addresses: str) -> set[str]:
    """Those that the user of a container can connect to."""
    return {*cluster.shows("exec", pod, "-c", container, "--", "python3", "-c", CONNECT, *addresses).split()}


def test_a_hostile_page_reaches_nothing_of_the_cluster(
    make_show: Callable[..., LiveShow], cluster: LocalCluster, receiver: ReceiverClient, path: str
) -> None:
    def started(key: str) -> tuple[LiveShow, str]:
        show = make_show(URL)
        show.add_destination(**address(key))
        show.start()
        return show, str(cluster.until("the pod runs", lambda: cluster.running_pod(show.project)))

    def service(name: str, namespace: str = SYSTEM) -> str:
        return str(cluster.get("service", name, namespace)["spec"]["clusterIP"])

    _, other = started(f"{path}-other")
    show, pod = started(path)
    status = cluster.get("pod", pod, SHOWS)["status"]
    (mediamtx,) = cluster.list("pod", "app.kubernetes.io/component=mediamtx", SYSTEM)
    inside = {
        "the API server": f"{service('kubernetes', 'default')}:443",
        "the kubelet": f"{status['hostIP']}:10250",
        "Redis": f"{service('onair-redis')}:6379",
        "the facade": f"{service('onair-api')}:80",
        "the room server": f"{service('onair-livekit')}:7880",
        "MediaMTX's API": f"{mediamtx['status']['podIP']}:9997",
        "another encoder": f"{cluster.get('pod', other, SHOWS)['status']['podIP']}:9090",
        "the agent's metrics": "127.0.0.1:9090",
        "the agent's control": "127.0.0.1:8443",
        "the agent's metrics at the pod's address": f"{status['podIP']}:9090",
    }
    urls = [f"http{'s' if each.endswith(('443', '10250')) else ''}://{each}/" for each in inside.values()]
    with page_in_pod(cluster, pod, PAGE.replace("URLS", json.dumps(urls))):
        receiver.wait_ready(path, 60)
        show.wait_phase("RUNNING")
        shade = cluster.until(
            "the page has tried",
            lambda: decided(float(np.asarray(gray_frames(rtsp_url(path), 0.5)[-1]).mean())),
        )
        assert shade == "white"
    pages = {"127.0.0.1:8450", "127.0.0.1:8000"}
    assert connected(cluster, pod, "browser", *inside.values(), *pages) == pages
    # Of the encoder's user these are some that no policy of the network closes: they were there to be reached
    open_to_others = {
        inside["the facade"],
        inside["the room server"],
        *(each for each in inside.values() if each.startswith("127.")),
    }
    assert connected(cluster, pod, "encoder", *inside.values(), *pages) >= pages | open_to_others


def decided(brightness: float) -> str | None:
    """What the page has found, by the brightness of the programme; None while it is trying."""
    if brightness > 220:
        return "white"
    return "black" if brightness < 40 else None
